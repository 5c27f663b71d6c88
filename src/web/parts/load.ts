import { useEffect, useState } from 'preact/hooks';
import { fetchJson } from '../api.ts';
import { type Child, h, type VNode } from '../h.ts';
import { failure } from './layout.ts';

interface Part<T> {
  /** Null until it is there. */
  answer: T | null;
  problem: unknown;
  reload(): Promise<void>;
}

/** What a part of a page loads by itself, and again when its address changes. Null loads nothing. */
export function useAnswer<T>(path: string | null): Part<T> {
  const [answer, setAnswer] = useState<T | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const load = async (signal?: AbortSignal): Promise<void> => {
    if (path === null) return;
    try {
      setAnswer(await fetchJson<T>(path, signal ? { signal } : {}));
      setProblem(null);
    } catch (error) {
      if (!signal?.aborted) setProblem(error);
    }
  };
  useEffect(() => {
    const leave = new AbortController();
    void load(leave.signal);
    return () => leave.abort();
  }, [path]);
  return { answer, problem, reload: () => load() };
}

export interface Outcome {
  /** Where it is said, and read out to people who do not see it. */
  said: VNode;
  say(words: Child): void;
  /** Does what a person asked for, and says what it fails with. */
  attempt(work: () => Promise<unknown>): Promise<void>;
}

/** The words about what a person did: a result, or an error. */
export function useOutcome(): Outcome {
  const [words, say] = useState<Child>(null);
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      say(failure(error));
    }
  };
  return { said: h('div', { 'aria-live': 'polite' }, words), say, attempt };
}
