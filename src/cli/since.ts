import { duration } from '../../config/parse.ts';
import { AppError } from '../base/errors.ts';
import { toInstant } from '../contract/datetime.ts';

/** `2026-01-01`, `2026-01-01T12:00Z`, or `7d` for that long before now; as the mirror spells its times. */
export function readSince(text: string, now: number): string {
  const given = text.trim();
  const instant = toInstant(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00Z` : given);
  if (instant !== null) return instant;
  try {
    return new Date(now - duration(given)).toISOString();
  } catch {
    throw new AppError('usage', `--since "${text}" is neither a date nor a duration`, {
      hint: 'Say 2026-01-31, 2026-01-31T12:00Z, or 7d for the last seven days; times without a zone are UTC.',
    });
  }
}
