/** What ends a process at once: nothing runs after it, and nothing can be said about it. */
export const KILLED = new Error('killed');

/** A process under simulation: at each of its steps fate may freeze it for a while, or end it. */
export interface Life {
  dead: boolean;
  fate: (step: string) => 'live' | 'die';
}

/** The same store, but every call of it is a step of this life, before and after. */
export function mortalStore<T extends object>(target: T, life: Life): T {
  return wrapped(target, (operation, name) => (...args) => {
    step(life, `before ${name}`);
    const result: unknown = operation(...args);
    // The lock itself is the kernel's: its owner can die only later.
    if (name !== 'lockSender') step(life, `after ${name}`);
    return result;
  });
}

/** The same client, but every call of it is a step of this life, before and after; `beside` happens while a call is on its way. */
export function mortalClient<T extends object>(target: T, life: Life, beside: () => Promise<void>): T {
  return wrapped(target, (operation, name) => {
    if (name === 'posts') return (...args) => pages(() => operation(...args), life);
    return async (...args) => {
      step(life, `before ${name}`);
      await beside();
      const result: unknown = await operation(...args);
      step(life, `after ${name}`);
      return result;
    };
  });
}

type Operation = (...args: unknown[]) => unknown;

function wrapped<T extends object>(target: T, wrap: (operation: Operation, name: string) => Operation): T {
  return new Proxy(target, {
    get(_, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== 'function' || name === 'close') return operation;
      return wrap((...args) => Reflect.apply(operation, target, args) as unknown, String(name));
    },
  });
}

async function* pages(read: () => unknown, life: Life): AsyncGenerator {
  step(life, 'before posts');
  for await (const page of read() as AsyncIterable<unknown>) {
    step(life, 'after a page');
    yield page;
  }
}

function step(life: Life, name: string): void {
  if (!life.dead && life.fate(name) === 'die') life.dead = true;
  if (life.dead) throw KILLED;
}
