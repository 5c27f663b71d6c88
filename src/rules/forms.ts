import { htmlText } from '../text/text.ts';
import { markdownLink, markdownText, slackLink, slackText, teamsCard } from '../webhooks/message.ts';
import type { Letter, Line, Section } from './letter.ts';
import { MAIL_STYLE } from './mail-style.ts';

const REPEATED = 'Repeated: an earlier attempt to send this got no answer, so you may have it already.';

export function subjectOf({ subject, isRepeated }: Letter): string {
  return isRepeated ? `[repeated] ${subject}` : subject;
}

/** Plain text: for mail programs without HTML, and for a preview on a terminal. */
export function asText(letter: Letter): string {
  const section = ({ head, lines, more }: Section): string =>
    [head, '-'.repeat(head.length), ...lines.flatMap(textLine), ...moreText(more)].join('\n');
  const parts = [
    subjectOf(letter),
    ...(letter.isRepeated ? [REPEATED] : []),
    ...(letter.intro ? [letter.intro] : []),
  ];
  return `${[...parts, ...letter.sections.map(section), ...(letter.link ? [letter.link] : [])].join('\n\n')}\n`;
}

function textLine({ text, title, link }: Line): string[] {
  const words = title === null ? text : `${title} (${text})`;
  return [`* ${words}`, ...(link === null ? [] : [`  ${link}`])];
}

function moreText(more: number): string[] {
  return more > 0 ? [`and ${more} more`] : [];
}

/** Mail in HTML: colours that a dark mail client can turn round, no picture, and nothing that is loaded. */
export function asHtml(letter: Letter): string {
  const paragraphs = [...(letter.isRepeated ? [REPEATED] : []), ...(letter.intro ? [letter.intro] : [])];
  const sections = letter.sections.map(({ head, lines, more }) => {
    const items = lines.map(htmlLine).join('');
    const rest = moreText(more).map((text) => `<p>${htmlText(text)}</p>`);
    return `<h2>${htmlText(head)}</h2><ul>${items}</ul>${rest.join('')}`;
  });
  const foot = letter.link === null ? '' : `<p><a href="${htmlText(letter.link)}">Open the dashboard</a></p>`;
  const body = [
    `<h1>${htmlText(subjectOf(letter))}</h1>`,
    ...paragraphs.map((text) => `<p>${htmlText(text)}</p>`),
    ...sections,
    foot,
  ];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${htmlText(subjectOf(letter))}</title><style>${MAIL_STYLE}</style></head><body>${body.join('')}</body></html>`;
}

function htmlLine({ text, title, link }: Line): string {
  if (title === null) return `<li>${htmlText(text)}</li>`;
  const named = link === null ? htmlText(title) : `<a href="${htmlText(link)}">${htmlText(title)}</a>`;
  return `<li>${named}<br><small>${htmlText(text)}</small></li>`;
}

/** A text of a block may have 3,000 characters in Slack. */
const SLACK_LENGTH = 2900;

export function asSlack(letter: Letter): object {
  const section = ({ head, lines, more }: Section): object[] => {
    const first = `*${slackText(head)}*`;
    const kept = withinLength(lines.map(slackLine), SLACK_LENGTH - first.length);
    const rest = moreText(more + lines.length - kept.length);
    return [{ type: 'section', text: { type: 'mrkdwn', text: [first, ...kept, ...rest].join('\n') } }];
  };
  const notes = [...(letter.isRepeated ? [REPEATED] : []), ...(letter.intro ? [letter.intro] : [])];
  const blocks = [
    { type: 'header', text: { type: 'plain_text', text: subjectOf(letter).slice(0, 150) } },
    ...notes.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text: slackText(text) } })),
    ...letter.sections.flatMap(section),
    ...(letter.link
      ? [
          {
            type: 'section',
            text: { type: 'mrkdwn', text: slackLink('Open the dashboard', letter.link) },
          },
        ]
      : []),
  ];
  return { text: slackText(subjectOf(letter)), blocks: blocks.slice(0, 50) };
}

function slackLine({ text, title, link }: Line): string {
  if (title === null) return `• ${slackText(text)}`;
  return `• ${link === null ? slackText(title) : slackLink(title, link)} (${slackText(text)})`;
}

/** The first lines that fit whole: a link that is cut in the middle is none. */
function withinLength(lines: readonly string[], most: number): string[] {
  let left = most;
  const past = lines.findIndex((line) => {
    left -= line.length + 1;
    return left < 0;
  });
  return past < 0 ? [...lines] : lines.slice(0, past);
}

export function asTeams(letter: Letter): object {
  const block = (text: string, more: object = {}): object => ({
    type: 'TextBlock',
    wrap: true,
    text,
    ...more,
  });
  const section = ({ head, lines, more }: Section): object[] => [
    block(markdownText(head), { weight: 'Bolder', spacing: 'Medium' }),
    ...lines.map((line) => block(teamsLine(line))),
    ...moreText(more).map((text) => block(text)),
  ];
  const notes = [...(letter.isRepeated ? [REPEATED] : []), ...(letter.intro ? [letter.intro] : [])];
  const body = [
    block(markdownText(subjectOf(letter)), { size: 'Large', weight: 'Bolder' }),
    ...notes.map((text) => block(markdownText(text))),
    ...letter.sections.flatMap(section),
  ];
  const actions =
    letter.link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open the dashboard', url: letter.link }];
  return teamsCard({ body, actions });
}

function teamsLine({ text, title, link }: Line): string {
  if (title === null) return `- ${markdownText(text)}`;
  return `- ${link === null ? markdownText(title) : markdownLink(title, link)} (${markdownText(text)})`;
}
