import { emailKey } from '../base/email.ts';
import type { SentAuthor } from '../store/outbox/types.ts';
import { mailbox } from './match.ts';

/** Who the upstream shows as the creator of what we send, learned from posts whose row is certain. */
export interface Authors {
  /** Accounts on posts of the token's owner, and those that stand on the posts of several customers. */
  owners: ReadonlySet<number>;
  /** What is shown as the address of such an account: another account with it can be the owner's too, but need not. */
  ownerMailboxes: ReadonlySet<string>;
  /** Customers are shown as creators of the posts that were sent in their name. */
  showsCustomers: boolean;
  /** What follows the plus of an address is shown as it was sent. */
  keepsTags: boolean;
  /** The accounts on a customer's posts, by the address that they were sent as, where another address is shown or none. */
  accounts: ReadonlyMap<string, ReadonlySet<number>>;
  /** Addresses that are not those of one account: the same for everybody. */
  placeholders: ReadonlySet<string>;
}

export function learnAuthors(sent: readonly SentAuthor[]): Authors {
  const hidden = sent.filter(({ asked, shown }) => asked === null || !isAddressOf(asked, shown, false));
  const byAccount = Map.groupBy(hidden, ({ creator_id }) => creator_id);
  const owners = [...byAccount].filter(([, posts]) => isOwners(posts)).map(([account]) => account);
  const keysOf = (email: string | null): string[] => (email?.trim() ? [emailKey(email)] : []);
  const byAddress = Map.groupBy(hidden, ({ shown }) => keysOf(shown)[0] ?? '');
  const shownOf = (account: number): string[] =>
    byAccount.get(account)?.flatMap(({ shown }) => keysOf(shown).map(mailbox)) ?? [];
  return {
    owners: new Set(owners),
    ownerMailboxes: new Set(owners.flatMap(shownOf)),
    showsCustomers: hidden.length < sent.length,
    keepsTags: sent.some(({ asked, shown }) => asked?.includes('+') && isAddressOf(asked, shown, true)),
    accounts: accountsOf(hidden.filter(({ creator_id }) => !owners.includes(creator_id))),
    placeholders: new Set(
      [...byAddress].filter(([, posts]) => accountsIn(posts) > 1).map(([address]) => address),
    ),
  };
}

/** Whoever stands on a post of the owner, or on those of several customers, is the owner of the token. */
function isOwners(posts: readonly SentAuthor[]): boolean {
  const asked = new Set(posts.map((post) => (post.asked === null ? null : mailbox(post.asked))));
  return asked.has(null) || asked.size > 1;
}

function accountsIn(posts: readonly SentAuthor[]): number {
  return new Set(posts.map(({ creator_id }) => creator_id)).size;
}

function accountsOf(sent: readonly SentAuthor[]): Map<string, Set<number>> {
  const customers = Map.groupBy(sent, ({ asked }) => emailKey(asked ?? ''));
  return new Map(
    [...customers].map(([key, posts]) => [key, new Set(posts.map(({ creator_id }) => creator_id))]),
  );
}

/** The address itself, or what a service makes of it: without what follows a plus, and without the dots that one provider ignores. */
export function isAddressOf(asked: string, shown: string | null, keepsTags: boolean): boolean {
  if (!shown?.trim()) return false;
  if (emailKey(asked) === emailKey(shown)) return true;
  return !keepsTags && !shown.includes('+') && mailbox(asked) === mailbox(shown);
}

/** Nobody can be told by it: a part of it is masked, or everybody has the same. */
export function isHidden(shown: string, { placeholders }: Authors): boolean {
  return shown.includes('*') || placeholders.has(emailKey(shown));
}

/** The account stands on posts of customers, and none of them is this one. */
export function isAnothers(account: number, email: string | null, { accounts }: Authors): boolean {
  const key = email === null ? null : emailKey(email);
  if (key !== null && accounts.get(key)?.has(account)) return false;
  return [...accounts.values()].some((one) => one.has(account));
}
