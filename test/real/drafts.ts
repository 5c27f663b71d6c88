import { createRandom } from '../../src/sandbox/random.ts';
import { type Draft, OWNER } from './outbox-judge.ts';
import type { Service } from './stack.ts';

const WORDS =
  'export invoices calendar dark theme offline editor mobile search filter sort archive merge duplicate status column chart weekly report mail digest slack webhook login single sign password reset language german french keyboard shortcut drag drop upload image preview markdown table copy paste undo history version restore backup permission guest viewer admin billing plan discount coupon'.split(
    ' ',
  );

/** Rows as exports of other tools have them: texts of their own, two in five by the owner, one in twenty there twice. */
export function makeDrafts(number: number, seed: number): Draft[] {
  const random = createRandom(seed);
  const words = (most: number): string =>
    Array.from({ length: 3 + random.int(most) }, () => random.pick(WORDS)).join(' ');
  const drafts: Draft[] = [];
  while (drafts.length < number) {
    const email = random.chance(0.4) ? '' : `customer.${random.int(30)}@example.net`;
    const draft = { title: words(6), content: words(20), email };
    drafts.push(draft);
    if (random.chance(0.05)) drafts.push(draft);
  }
  return drafts.slice(0, number);
}

export function csvOf(drafts: readonly Draft[]): string {
  const lines = drafts.map(
    ({ title, content, email }) => `features,${title},${content},${email},${email.split('@')[0]}`,
  );
  return ['board,title,content,email,full_name', ...lines, ''].join('\n');
}

/** Meanwhile strangers ask for what a row of the file asks for, and the owner writes something else by hand. */
export async function postByHand({ db }: Service, drafts: readonly Draft[], n: number): Promise<void> {
  const isOwner = n % 5 === 0;
  const email = isOwner ? OWNER : `person.${n % 300}@example.com`;
  const title = isOwner ? `Notes of our meeting, part ${n}` : (drafts[(n * 37) % drafts.length]?.title ?? '');
  await db.query(
    `INSERT INTO feedback_post (title, content, board_id, status_id, creator_id, votes_count, created)
     SELECT $1, $2, (SELECT min(id) FROM feedback_board), (SELECT min(id) FROM feedback_status), id, 0, now()
       FROM feedback_user WHERE email = $3`,
    [title, `Written by hand, number ${n}`, email],
  );
}
