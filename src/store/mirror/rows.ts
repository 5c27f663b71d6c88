/** How one kind of row gets into the mirror and out of it; posts.ts and comments.ts each make one. */
export interface RowWriter<T> {
  write(row: T, at: string): 'inserted' | 'updated' | 'unchanged';
  /** Marks a live row as deleted; false if it was not live. */
  remove(id: number, at: string): boolean;
}
