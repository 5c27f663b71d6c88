import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { SavedItems, SavedList, SavedWords } from '../../query/saved.ts';
import { idOf, required, textIn } from './parameters.ts';

interface SavedDeps {
  saved: Omit<SavedItems, 'close'>;
  clock: Clock;
}

/** `/data/queries` and `/data/views`: what people keep under names, for everybody who uses this mirror. */
export function addSaved(app: FastifyInstance, { saved, clock }: SavedDeps): void {
  addShelf(app, { name: 'queries', column: 'sql', shelf: saved.queries, check: () => undefined, clock });
  addShelf(app, { name: 'views', column: 'address', shelf: saved.views, check: refuseElsewhere, clock });
}

interface ShelfOptions<K extends string> {
  name: string;
  column: K;
  shelf: SavedList<K>;
  check(text: string): void;
  clock: Clock;
}

function addShelf<K extends string>(app: FastifyInstance, options: ShelfOptions<K>): void {
  const { name, column, shelf, check, clock } = options;
  const path = `/data/${name}`;
  app.get(path, async () => ({ [name]: shelf.list() }));
  app.post(path, async ({ body }, reply) => {
    const text = required(textIn(body, column), column);
    check(text);
    const words = { name: required(textIn(body, 'name'), 'name'), [column]: text } as SavedWords<K>;
    return reply.code(201).send(shelf.save(words, clock.now()));
  });
  app.post(`${path}/:id`, async (request, reply) => {
    const [called, text] = [textIn(request.body, 'name'), textIn(request.body, column)];
    if (text !== null) check(text);
    const words = { ...(called && { name: called }), ...(text && { [column]: text }) } as Partial<
      SavedWords<K>
    >;
    const changed = shelf.change(idOf(request), words, clock.now());
    return changed ?? reply.code(404).send({ detail: 'This is gone; somebody may have deleted it.' });
  });
  app.post(`${path}/:id/delete`, async (request) => ({ deleted: shelf.remove(idOf(request)) }));
}

/** A view leads to a page of this service: a link that everybody sees must not lead anywhere else. */
function refuseElsewhere(address: string): void {
  if (/^\/(posts|reports|boards)\b[^\\]*$/.test(address)) return;
  throw new AppError('usage', 'a view is an address of the lists or reports of this dashboard');
}
