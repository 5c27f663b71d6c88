import { AppError } from '../../base/errors.ts';
import type { Db } from '../../db/open.ts';
import { boardsCalled } from '../../text/boards.ts';

export interface MirroredBoard {
  id: number;
  name: string;
  slug: string;
}

/**
 * Finds the board whose posts a person means: by slug, name or id, or without regard to case and punctuation. A board that was made anew
 * has the slug and the name of the former one, whose row stays: of several, those without posts are not meant.
 */
export function boardFinder(db: Db): (text: string) => MirroredBoard {
  const all = db.prepare<[], MirroredBoard>('SELECT id, name, slug FROM boards ORDER BY slug, id');
  const isLive = db.prepare<[number]>(
    'SELECT 1 FROM posts WHERE board_id = ? AND deleted_at IS NULL LIMIT 1',
  );
  return (text) => {
    const boards = all.all();
    const called = boardsCalled(boards, text);
    const live = called.length > 1 ? called.filter(({ id }) => isLive.get(id) !== undefined) : called;
    // Where none has any, all of them say the same.
    const [board, ...others] = live.length > 0 ? live : called.slice(-1);
    if (board && others.length === 0) return board;
    const names = (board ? live : boards).map(({ id, slug, name }) =>
      board ? `${id} (${name}, ${slug})` : slug === name ? slug : `${slug} (${name})`,
    );
    if (board)
      throw new AppError('usage', `${live.length} boards are called "${text}"`, {
        hint: `Say which by its id: ${names.join(', ')}.`,
      });
    throw new AppError('usage', `there is no board "${text}"`, {
      hint:
        names.length > 0
          ? `The boards are ${names.join(', ')}.`
          : 'The mirror knows no board yet: run "feedback-mirror sync".',
    });
  };
}
