import { join } from 'node:path';

export const EXAMPLES = join(import.meta.dirname, '../../../examples/layouts');

export interface LayoutCase {
  file: string;
  layout: string | null;
  keys: string[];
  first: { title: string; content: string; email: string | null; full_name: string | null };
  /** What the file needs to be imported where only the board `ideas`, "Feature requests", and `bugs` are known. */
  flags?: string[];
}

const OWNER = { email: null, full_name: null };

export const LAYOUT_CASES: readonly LayoutCase[] = [
  {
    file: 'canny.csv',
    layout: 'Canny',
    keys: ['key:canny:64f0a1', 'key:canny:64f0a2'],
    first: {
      title: 'Dark mode for the dashboard',
      content: 'My eyes hurt at night.\nPlease add a dark theme.',
      email: 'ada@example.com',
      full_name: 'Ada Adams',
    },
  },
  {
    file: 'uservoice.csv',
    layout: 'UserVoice',
    keys: ['key:uservoice:901', 'key:uservoice:902'],
    first: {
      title: 'Bulk edit of tags',
      content: 'Tagging one by one takes hours.',
      email: 'cleo@example.com',
      full_name: 'Cleo Chan',
    },
  },
  {
    file: 'featurebase.csv',
    layout: 'Featurebase',
    keys: ['key:featurebase:fb-1'],
    first: {
      title: 'Calendar view',
      content: 'A month at a glance.',
      email: 'eve@example.com',
      full_name: 'Eve Evans',
    },
  },
  {
    file: 'productboard.csv',
    layout: 'Productboard',
    keys: ['key:productboard:n-77'],
    first: {
      title: 'Import from a spreadsheet',
      content: 'We keep everything in spreadsheets.',
      email: 'finn@example.com',
      full_name: 'Finn Fox',
    },
    flags: ['--board', 'Feature Requests'],
  },
  {
    file: 'zendesk.csv',
    layout: 'Zendesk',
    keys: ['key:zendesk:4711'],
    first: {
      title: 'Cannot log in with SSO',
      content: '',
      email: 'gina@example.com',
      full_name: 'Gina Gray',
    },
    flags: ['--board', 'Bugs'],
  },
  {
    file: 'jira.csv',
    layout: 'Jira',
    keys: ['key:jira:FB-12'],
    first: { title: 'Show totals in reports', content: 'Sums below each column.', ...OWNER },
  },
  {
    file: 'linear.csv',
    layout: 'Linear',
    keys: ['key:linear:ENG-5'],
    first: { title: 'Webhooks for new posts', content: 'Call our own service.', ...OWNER },
  },
  {
    file: 'github.csv',
    layout: 'GitHub issues',
    keys: ['key:github:https://github.example/issues/31'],
    first: { title: 'Docker image for ARM', content: 'It runs on a small board.', ...OWNER },
    flags: ['--board', 'feature requests'],
  },
  {
    file: 'trello.csv',
    layout: 'Trello',
    keys: ['key:trello:5f01'],
    first: { title: 'Faster search', content: 'Results take a second.', ...OWNER },
  },
  {
    file: 'asana.csv',
    layout: 'Asana',
    keys: ['key:asana:1201'],
    first: { title: 'Undo for deletions', content: 'I deleted a post by mistake.', ...OWNER },
  },
  {
    file: 'notion.csv',
    layout: 'Notion',
    keys: [],
    first: { title: 'Printable roadmap', content: 'On one page.', ...OWNER },
    flags: ['--board', 'Feature Requests'],
  },
  {
    file: 'airtable.csv',
    layout: 'Airtable',
    keys: [],
    first: { title: 'Custom colours', content: 'Our own brand colours.', ...OWNER },
    flags: ['--board', 'Feature Requests'],
  },
  {
    file: 'excel.csv',
    layout: null,
    keys: ['key:X-1'],
    first: {
      title: 'Größere Schrift',
      content: 'Kaum lesbar, leider.',
      email: 'pia@example.com',
      full_name: 'Pia Pohl',
    },
  },
];
