interface Text {
  title: string;
  content: string;
}

const EMOJI = /\p{Extended_Pictographic}\ufe0f?/gu;

function both(change: (text: string) => string): (text: Text) => Text {
  return ({ title, content }) => ({ title: change(title), content: change(content) });
}

const NAMES: Record<string, string> = { é: 'eacute', '"': 'quot', '&': 'amp', '<': 'lt', '>': 'gt' };

/** What services were seen, or can be expected, to do to the words they are given. */
export const REWRITES: Record<string, (text: Text) => Text> = {
  'cutting the title': ({ title, content }) => ({ title: title.slice(0, 30), content }),
  'cutting the title with dots': ({ title, content }) => ({ title: `${title.slice(0, 27)}...`, content }),
  'cutting the content': ({ title, content }) => ({ title, content: content.slice(0, 60) }),
  'naming entities': both((text) => text.replace(/[é"&<>]/g, (sign) => `&${NAMES[sign]};`)),
  'compatibility forms': both((text) => text.normalize('NFKC')),
  'shortcodes for emoji': both((text) => text.replace(EMOJI, ':rocket:')),
  'dropping emoji': both((text) => text.replace(EMOJI, '')),
  'question marks for emoji': both((text) => text.replace(EMOJI, '?')),
  'sanitising scripts': both((text) => text.replace(/<script.*?<\/script>/g, '')),
  'shortening links': both((text) =>
    text.replace(/https:\/\/([^\s)]{18})[^\s)]*/g, '<a href="https://$1">$1…</a>'),
  ),
  'making HTML of Markdown': ({ title, content }) => ({
    title,
    content: `<p>${content
      .replace(/\[([^\]]*)\]\(([^)]*)\)/g, '<a href="$2">$1</a>')
      .replace(/\*\*(.*?)\*\*/g, '<strong>$1</strong>')
      .replaceAll('\n', '<br>')}</p>`,
  }),
  'smart quotes and dashes': both((text) =>
    text
      .replace(/"(.*?)"/g, '“$1”')
      .replaceAll("'", '’')
      .replaceAll('--', '—')
      .replaceAll('...', '…'),
  ),
  'capitalising the first letter': both((text) => text.slice(0, 1).toUpperCase() + text.slice(1)),
  'capitalising every word': both((text) => text.replace(/\b\p{L}/gu, (letter) => letter.toUpperCase())),
  'dropping the last dot': both((text) => text.replace(/\.$/, '')),
  'dropping invisible signs': both((text) => text.replace(/[\p{Cf}]|(?!\s)\p{Cc}/gu, '')),
  'filtering words': both((text) => text.replace(/damn|hurt|eyes/gi, '****')),
  'filtering words but for their ends': both((text) =>
    text.replace(/d(am)n|h(ur)t/gi, (word) => `${word[0]}**${word.at(-1)}`),
  ),
  'expanding mentions': both((text) => text.replaceAll('@ada', '<a class="mention">Ada Lovelace</a>')),
  'emptying the content': ({ title }) => ({ title, content: '' }),
};
