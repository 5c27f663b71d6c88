import { compare, isExact } from '../judge.ts';
import type { Context, Scenario } from './scenario.ts';

/** nginx without `proxy_set_header Host`: `next` names the upstream of nginx instead of its own address. */
export const nextHost: Scenario = {
  name: 'next names another host',
  async run({ deploy, open, notes }: Context) {
    const service = await deploy({ seed: { posts: 300, comments: 600 }, nginx: { passesHost: false } });
    const program = open(service);
    const { code, stderr } = await program.run('sync');
    notes.figure('sync ends with', `exit ${code}`);
    notes.check(
      'next is followed at the configured address, exit 0',
      code === 0,
      `exit ${code}: ${stderr.slice(-200)}`,
    );
    const { posts, comments } = await compare(program.mirror, service.db);
    notes.check(
      'the mirror equals the database',
      isExact(posts) && isExact(comments),
      `${posts.missing} posts missing`,
    );
  },
};
