import type { PreviewAnswer, RulesAnswer, TestAnswer } from '../../http/dashboard/rules.ts';
import type { RuleView } from '../../rules/engine.ts';
import { fetchJson } from '../api.ts';
import { ago, counted } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button } from '../parts/controls.ts';
import { openDialog } from '../parts/dialog.ts';
import { banner, card, facts, pageHead, tag, timeTag } from '../parts/layout.ts';
import { useNews } from '../parts/load.ts';
import { pageOf } from '../shell/page.ts';

/** What is told to whom and when: a look at the next message, a test of it, and a pause. */
export const page = pageOf<RulesAnswer>({
  title: 'Rules',
  follows: () => true,
  load: (_place, signal) => fetchJson('/data/rules', { signal }),
  view({ answer: { isSet, rules }, place }) {
    const { said, say, attempt } = useNews();
    const test = async (rule: RuleView): Promise<void> => {
      const { results } = await fetchJson<TestAnswer>(`${addressOf(rule)}/test`, { body: {} });
      say(results.map(({ channel, outcome }) => banner('plain', `${channel}: ${outcomeText(outcome)}`)));
    };
    const pause = async (rule: RuleView): Promise<void> => {
      await fetchJson(`${addressOf(rule)}/pause`, { body: { paused: rule.pausedAt === null } });
      await place.reload();
    };
    const retry = async (rule: RuleView): Promise<void> => {
      const { again } = await fetchJson<{ again: number }>(`${addressOf(rule)}/retry`, { body: {} });
      say(banner('good', `${counted(again, 'message')} will be sent again.`));
      await place.reload();
    };
    return [
      pageHead('Rules', 'Digests and alerts by mail, Slack, Teams or webhook, as RULES_FILE says.'),
      said,
      h(
        'div.stacked',
        rules.length === 0
          ? h(
              'p.empty.card',
              isSet
                ? 'RULES_FILE has no rule.'
                : [
                    'RULES_FILE is not set. ',
                    h('a', { href: '/docs/rules.md' }, 'Examples to begin with'),
                    '.',
                  ],
            )
          : rules.map((rule) =>
              ruleCard(rule, [
                button('Preview', () => void attempt(() => preview(rule))),
                button('Send a test', () => void attempt(() => test(rule))),
                button(rule.pausedAt === null ? 'Pause' : 'Go on', () => void attempt(() => pause(rule))),
                rule.failed > 0
                  ? button('Send again what failed', () => void attempt(() => retry(rule)))
                  : null,
              ]),
            ),
      ),
    ];
  },
});

function addressOf({ name }: RuleView): string {
  return `/data/rules/${encodeURIComponent(name)}`;
}

function outcomeText(outcome: TestAnswer['results'][number]['outcome']): string {
  return outcome.kind === 'sent' ? 'the test was sent' : outcome.error;
}

function ruleCard(rule: RuleView, actions: Child): VNode {
  const { name, what, every, to, pausedAt, next, waiting, failed, lastSent, lastError } = rule;
  const when = every.replace('-', ' ');
  const state = pausedAt === null ? tag('on', 'good') : tag('paused', 'warn');
  return card(
    { title: name, note: state },
    facts([
      ['Tells', [what, ', ', when]],
      ['To', to.join(', ')],
      ['Next', next === null ? 'as soon as something happens' : timeTag(next)],
      ['Last sent', ago(lastSent)],
      ...(waiting > 0 ? ([['Waiting', counted(waiting, 'message')]] as [string, Child][]) : []),
      ...(failed > 0
        ? ([['Failed', [counted(failed, 'message'), ': ', lastError]]] as [string, Child][])
        : []),
    ]),
    h('div.actions', actions),
  );
}

/** As it would be sent now, in words: the form of mail is for mail programs. */
async function preview(rule: RuleView): Promise<void> {
  const { subject, text } = await fetchJson<PreviewAnswer>(`${addressOf(rule)}/preview`);
  openDialog(subject, (close) => [
    h('p.text', { dir: 'auto' }, text),
    h('div.actions', h('button.main', { type: 'button', autofocus: true, onClick: close }, 'Close')),
  ]);
}
