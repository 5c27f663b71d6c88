import { styleText } from 'node:util';
import type { Found, Hit, Part } from '../store/search.ts';
import { oneLine } from './table.ts';

/** Title and snippet as plain texts, and the same in pieces for whoever wants to mark the matches. */
export function hitsJson({ hits, unindexed }: Found): string {
  const shown = hits.map(({ title, snippet, ...rest }) => ({
    ...rest,
    title: plain(title),
    snippet: plain(snippet),
    parts: { title, snippet },
  }));
  return JSON.stringify({ hits: shown, unindexed });
}

function plain(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('');
}

export function hitsText(hits: readonly Hit[], baseUrl: URL | null): string {
  const width = Math.max(...hits.map(({ id }) => String(id).length)) + 3;
  return hits.map((hit) => hitText(hit, width, baseUrl)).join('\n\n');
}

function hitText(hit: Hit, width: number, baseUrl: URL | null): string {
  const facts = [hit.board, hit.status, votesText(hit.votes), addressOf(hit.url, baseUrl)];
  const lines = [facts.map(oneLine).join('  '), marked(hit.snippet)].filter((line) => line !== '');
  const below = lines.map((line) => ' '.repeat(width) + line);
  return [`${`#${hit.id}`.padEnd(width)}${marked(hit.title)}`, ...below].join('\n');
}

function votesText(votes: number): string {
  return `${votes.toLocaleString('en')} ${votes === 1 ? 'vote' : 'votes'}`;
}

/** Bold in a terminal that can show it; elsewhere the quotes that feedback hardly ever has. */
function marked(parts: readonly Part[]): string {
  const isStyled = process.stdout.isTTY && styleText('bold', 'x', { stream: process.stdout }) !== 'x';
  return parts
    .map(({ text, isMatch }) => {
      const shown = oneLine(text);
      if (!isMatch) return shown;
      return isStyled ? styleText('bold', shown) : `«${shown}»`;
    })
    .join('')
    .trim();
}

/** The service gives addresses relative to itself. */
function addressOf(url: string, baseUrl: URL | null): string {
  return baseUrl !== null && URL.canParse(url, baseUrl.href) ? new URL(url, baseUrl).href : url;
}
