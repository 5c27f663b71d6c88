import type { NewRow, PostText } from '../../src/outbox/decide/types.ts';
import { contentHash } from '../../src/outbox/decide/whose.ts';
import type { Random } from '../../src/sandbox/random.ts';
import { BOARDS } from './simulated-post.ts';

/** One row in so many repeats an earlier one, word for word. */
const TWINS = 0.1;
const NEAR = 60;

/** Rows as people import them: customers and owner, awkward signs, and some that say exactly what another one says. */
export function* simulatedRows(count: number, random: Random): Generator<NewRow> {
  const latest: PostText[] = [];
  for (let n = 1; n <= count; n++) {
    const text =
      latest.length > 0 && random.chance(TWINS) ? twinOf(random.pick(latest), random) : fresh(n, random);
    latest.push(text);
    if (latest.length > NEAR) latest.shift();
    yield {
      ...text,
      batch: 'simulation',
      source_key: `row ${n}`,
      line: n + 1,
      content_hash: contentHash(text),
    };
  }
}

/** The same words, mostly from the same person. */
function twinOf(text: PostText, random: Random): PostText {
  return random.chance(0.7) ? text : { ...text, ...author(random) };
}

function fresh(n: number, random: Random): PostText {
  const title = random.pick([
    `Dark mode ${n}`,
    `  Export "all" of board ${n}  `,
    `It's R&D's <small> wish ${n}`,
    `Cafe\u0301 menu ${n}`,
    `🎉🎉 ${n}`,
    `damn slow export of café ${n} for @ada.`,
  ]);
  const content = random.pick([
    '',
    `Please.\r\nLine two of ${n}.\r\n`,
    `  1 < 2 && 3 > 2, says ${n}  `,
    `<b>Bold</b> words & "quotes" ${n}`,
    `Nai\u0308ve ${n}\n\nThank you`,
    `See [the docs](https://example.com/a/very/long/path/${n}) and **bold** words -- "quoted" by @ada, number ${n}.`,
  ]);
  return { board: random.pick(BOARDS), title, content, ...author(random) };
}

function author(random: Random): Pick<PostText, 'email' | 'full_name'> {
  if (random.chance(0.4)) return { email: null, full_name: null };
  const name = `customer${random.int(50)}`;
  return { email: `${random.pick([name, name.toUpperCase(), `${name}+news`])}@example.com`, full_name: name };
}
