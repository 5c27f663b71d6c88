/** Entries of the index that are looked at for one field of one row: the rarest words first. */
const MOST_ENTRIES = 5000;
/** How many of the posts that share most with a row are compared word for word. */
const CANDIDATES = 8;

/** Words as numbers, and how many letters each has. */
export class WordNumbers {
  readonly #ids = new Map<string, number>();
  readonly letters: number[] = [];

  add(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    const id = this.letters.push(word.length) - 1;
    this.#ids.set(word, id);
    return id;
  }
}

/** The words of one field of many posts in flat arrays: a hundred thousand sets of strings would be ten times as large. */
export class FieldIndex {
  #words = new Int32Array(1 << 16);
  #used = 0;
  readonly #starts: number[] = [0];
  /** By word: where its posts begin in `#posts`. */
  #postStarts = new Int32Array(0);
  #posts = new Int32Array(0);
  /** While posts are counted: the letters that each shares, and which posts were met. */
  #hits = new Int32Array(0);
  #touched = new Int32Array(0);
  #met = 0;

  add(words: readonly number[]): void {
    if (this.#used + words.length > this.#words.length) {
      const larger = new Int32Array(this.#words.length * 2);
      larger.set(this.#words);
      this.#words = larger;
    }
    this.#words.set(words, this.#used);
    this.#used += words.length;
    this.#starts.push(this.#used);
  }

  wordsOf(post: number): Int32Array {
    return this.#words.subarray(this.#starts[post], this.#starts[post + 1]);
  }

  /** Builds the list of posts for each word, after the last `add`. */
  close(vocabulary: number): void {
    const starts = new Int32Array(vocabulary + 1);
    const more = (word: number, by: number): void => {
      starts[word] = (starts[word] ?? 0) + by;
    };
    for (let at = 0; at < this.#used; at++) more((this.#words[at] ?? 0) + 1, 1);
    for (let word = 0; word < vocabulary; word++) more(word + 1, starts[word] ?? 0);
    const next = starts.slice();
    this.#posts = new Int32Array(this.#used);
    for (let post = 0; post + 1 < this.#starts.length; post++)
      for (const word of this.wordsOf(post)) {
        const at = next[word] ?? 0;
        this.#posts[at] = post;
        next[word] = at + 1;
      }
    this.#postStarts = starts;
    this.#hits = new Int32Array(this.#starts.length);
    this.#touched = new Int32Array(this.#starts.length);
  }

  /** The posts that share most letters in rare words with these. */
  candidates(words: readonly number[], letters: readonly number[]): number[] {
    const known = words
      .map((word) => ({ word, posts: this.#frequency(word) }))
      .filter(({ posts }) => posts > 0);
    known.sort((a, b) => a.posts - b.posts);
    this.#met = 0;
    let left = MOST_ENTRIES;
    for (const { word, posts } of known) {
      if (left <= 0) break;
      left -= posts;
      this.#count(word, letters[word] ?? 0);
    }
    return this.#best();
  }

  #frequency(word: number): number {
    const starts = this.#postStarts;
    return word + 1 < starts.length ? (starts[word + 1] ?? 0) - (starts[word] ?? 0) : 0;
  }

  #count(word: number, weight: number): void {
    const [from, to] = [this.#postStarts[word] ?? 0, this.#postStarts[word + 1] ?? 0];
    const [posts, hits, touched] = [this.#posts, this.#hits, this.#touched];
    let met = this.#met;
    for (let at = from; at < to; at++) {
      const post = posts[at] as number;
      const before = hits[post] as number;
      if (before === 0) touched[met++] = post;
      hits[post] = before + weight;
    }
    this.#met = met;
  }

  /** The few with the most, and everything is as if nothing had been counted. */
  #best(): number[] {
    const best: { post: number; hits: number }[] = [];
    let least = 0;
    for (let i = 0; i < this.#met; i++) {
      const post = this.#touched[i] as number;
      const hits = this.#hits[post] as number;
      this.#hits[post] = 0;
      if (hits <= least) continue;
      best.push({ post, hits });
      if (best.length < 2 * CANDIDATES) continue;
      best.sort((a, b) => b.hits - a.hits).length = CANDIDATES;
      least = best.at(-1)?.hits ?? 0;
    }
    return best
      .sort((a, b) => b.hits - a.hits)
      .slice(0, CANDIDATES)
      .map(({ post }) => post);
  }
}

/**
 * Posts by all of their words. Where each word of a post is in thousands of others, the rare words lead to some of those, and the post
 * itself may not be among them.
 */
export class ExactPosts {
  readonly #posts = new Map<number, number>();

  constructor(posts: number, wordsOf: (post: number) => ArrayLike<number>) {
    for (let post = posts - 1; post >= 0; post--) this.#posts.set(hashOf(wordsOf(post)), post);
  }

  /** The first post with these words, or one whose words have the same hash; none where there are no words. */
  find(words: ArrayLike<number>): number[] {
    const found = words.length === 0 ? undefined : this.#posts.get(hashOf(words));
    return found === undefined ? [] : [found];
  }
}

function hashOf(words: ArrayLike<number>): number {
  let hash = words.length;
  for (let i = 0; i < words.length; i++) {
    hash = Math.imul(hash ^ (words[i] ?? 0), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
