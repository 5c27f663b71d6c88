import { linkAddress } from '../text/text.ts';
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
    const rest = moreText(more).map((text) => `<p>${html(text)}</p>`);
    return `<h2>${html(head)}</h2><ul>${items}</ul>${rest.join('')}`;
  });
  const foot = letter.link === null ? '' : `<p><a href="${html(letter.link)}">Open the dashboard</a></p>`;
  const body = [
    `<h1>${html(subjectOf(letter))}</h1>`,
    ...paragraphs.map((text) => `<p>${html(text)}</p>`),
    ...sections,
    foot,
  ];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${html(subjectOf(letter))}</title><style>${MAIL_STYLE}</style></head><body>${body.join('')}</body></html>`;
}

function htmlLine({ text, title, link }: Line): string {
  if (title === null) return `<li>${html(text)}</li>`;
  const named = link === null ? html(title) : `<a href="${html(link)}">${html(title)}</a>`;
  return `<li>${named}<br><small>${html(text)}</small></li>`;
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** A text of a block may have 3,000 characters in Slack. */
const SLACK_LENGTH = 2900;

export function asSlack(letter: Letter): object {
  const section = ({ head, lines, more }: Section): object[] => {
    const first = `*${slack(head)}*`;
    const kept = withinLength(lines.map(slackLine), SLACK_LENGTH - first.length);
    const rest = moreText(more + lines.length - kept.length);
    return [{ type: 'section', text: { type: 'mrkdwn', text: [first, ...kept, ...rest].join('\n') } }];
  };
  const notes = [...(letter.isRepeated ? [REPEATED] : []), ...(letter.intro ? [letter.intro] : [])];
  const blocks = [
    { type: 'header', text: { type: 'plain_text', text: subjectOf(letter).slice(0, 150) } },
    ...notes.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text: slack(text) } })),
    ...letter.sections.flatMap(section),
    ...(letter.link
      ? [
          {
            type: 'section',
            text: { type: 'mrkdwn', text: `<${linkAddress(letter.link)}|Open the dashboard>` },
          },
        ]
      : []),
  ];
  return { text: slack(subjectOf(letter)), blocks: blocks.slice(0, 50) };
}

function slackLine({ text, title, link }: Line): string {
  if (title === null) return `• ${slack(text)}`;
  const named = link === null ? slack(title) : `<${linkAddress(link)}|${slack(title).replaceAll('|', '¦')}>`;
  return `• ${named} (${slack(text)})`;
}

function slack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
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
    block(markdown(head), { weight: 'Bolder', spacing: 'Medium' }),
    ...lines.map((line) => block(teamsLine(line))),
    ...moreText(more).map((text) => block(text)),
  ];
  const notes = [...(letter.isRepeated ? [REPEATED] : []), ...(letter.intro ? [letter.intro] : [])];
  const body = [
    block(markdown(subjectOf(letter)), { size: 'Large', weight: 'Bolder' }),
    ...notes.map((text) => block(markdown(text))),
    ...letter.sections.flatMap(section),
  ];
  const actions =
    letter.link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open the dashboard', url: letter.link }];
  const schema = 'http://adaptivecards.io/schemas/adaptive-card.json';
  const content = { $schema: schema, type: 'AdaptiveCard', version: '1.4', body, actions };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
  };
}

function teamsLine({ text, title, link }: Line): string {
  if (title === null) return `- ${markdown(text)}`;
  const named = link === null ? markdown(title) : `[${markdown(title)}](${linkAddress(link)})`;
  return `- ${named} (${markdown(text)})`;
}

function markdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~]/g, '\\$&');
}
