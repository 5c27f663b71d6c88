import './unit-guard.ts';
import fc from 'fast-check';

/**
 * Loaded before every test: properties try the same cases each time, so that a red run means a change and not bad luck.
 * `FC_SEED=$RANDOM npm test` goes looking for new ones; the long scripts always do.
 */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_115) });
