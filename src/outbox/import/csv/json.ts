import { AppError } from '../../../base/errors.ts';

/** Tools whose JSON people have at hand, by names that it has near its start, and where they export CSV. */
const TOOLS: readonly { name: string; clue: RegExp; where: string }[] = [
  {
    name: 'Trello',
    clue: /"idOrganization"|"idBoard"|"idMemberCreator"|trello\.com/,
    where:
      'Trello, in a Premium workspace: board menu, "Print, export, and share", "Export as CSV". docs/import.md says how to make CSV of this file without one.',
  },
  {
    name: 'GitHub',
    clue: /"node_id"|"html_url"|"createdAt":.*"labels"|api\.github\.com/s,
    where: 'GitHub: docs/import.md has the command of "gh issue list" that writes CSV.',
  },
  {
    name: 'Jira',
    clue: /"issuetype"|"customfield_|"expand":\s*"[^"]*schema/,
    where: 'Jira: search for issues, "Export", "Export CSV (all fields)".',
  },
  {
    name: 'Zendesk',
    clue: /"ticket_form_id"|"requester_id"|"submitter_id"/,
    where: 'Zendesk: Admin Center, Account, Tools, Reports, Export, CSV; or a view, "Export CSV".',
  },
  {
    name: 'Airtable',
    clue: /"records".*"createdTime"/s,
    where: 'Airtable: the menu of a grid view, "Download CSV".',
  },
  {
    name: 'Intercom',
    clue: /"conversation_parts"|"type":\s*"conversation/,
    where: 'Intercom: Reports, a conversations dataset, "Export", CSV.',
  },
];

const ELSEWHERE =
  'Most tools offer CSV beside JSON where they export. docs/import.md says how to make CSV of JSON.';

/** `{"`, `[{` and the like; a header line of CSV does not begin so. */
const JSON_START = /^\s*(\{\s*("|\}|$)|\[\s*(\{|\[|\]|$))/;

/**
 * JSON is refused with the way to a CSV file. It is not read: every tool has a shape of its own, and a whole file would have to be held
 * in memory before its first row is known.
 */
export function refuseJson(head: string): void {
  if (!JSON_START.test(head)) return;
  const tool = TOOLS.find(({ clue }) => clue.test(head));
  const of = tool ? ` of ${tool.name}` : '';
  throw new AppError('usage', `this is JSON${of}; export it as CSV`, { hint: tool?.where ?? ELSEWHERE });
}
