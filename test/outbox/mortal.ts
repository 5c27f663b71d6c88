/** What ends a process at once: nothing runs after it, and nothing can be said about it. */
export const KILLED = new Error('killed');

/** A process under simulation: at each of its steps fate may do something to it, or end it. */
export interface Life {
  dead: boolean;
  fate: (step: string) => Promise<'live' | 'die'>;
}

/** The same thing, but every call of it is a step of this life, before and after. */
export function mortal<T extends object>(target: T, life: Life): T {
  return new Proxy(target, {
    get(_, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== 'function' || name === 'close') return operation;
      if (name === 'posts')
        return (...args: unknown[]) => pages(() => Reflect.apply(operation, target, args), life);
      return async (...args: unknown[]) => {
        await step(life, `before ${String(name)}`);
        const result: unknown = await operation.apply(target, args);
        // The lock itself is the kernel's: who has it can die only later.
        if (name !== 'lockSender') await step(life, `after ${String(name)}`);
        return result;
      };
    },
  });
}

async function* pages(read: () => unknown, life: Life): AsyncGenerator {
  await step(life, 'before posts');
  for await (const page of read() as AsyncIterable<unknown>) {
    await step(life, 'after a page');
    yield page;
  }
}

async function step(life: Life, name: string): Promise<void> {
  if (!life.dead && (await life.fate(name)) === 'die') life.dead = true;
  if (life.dead) throw KILLED;
}
