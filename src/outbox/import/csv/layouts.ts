import type { Field } from './rows.ts';

/** The export of another tool: how it is recognised by its header line, and which of its columns is which field. */
export interface Layout {
  /** Also the prefix of its rows' source keys: numbers of two tools do not collide. */
  id: string;
  name: string;
  /** All of these columns are there; names as `foldedName` spells them. */
  has: readonly string[];
  /** For each field the columns that may hold it; the first that is there does. */
  columns: Partial<Record<Field, readonly string[]>>;
  /** Columns that say how far a post is, besides those whose header says so. */
  states?: readonly string[];
}

/**
 * The first layout that fits is used. Assignees and reporters without an address are left out: the API takes a customer by e-mail
 * only, and the person who works on an issue did not ask for it. Each layout has an example file of its own in `examples/layouts/`.
 */
export const LAYOUTS: readonly Layout[] = [
  ...['postid', 'id'].map((key) => ({
    id: 'canny',
    name: 'Canny',
    has: [key, 'title', 'details', 'board'],
    columns: {
      key: [key],
      title: ['title'],
      content: ['details'],
      board: ['board'],
      email: ['authoremail', 'useremail'],
      full_name: ['authorname', 'author', 'username'],
    },
  })),
  {
    id: 'uservoice',
    name: 'UserVoice',
    has: ['suggestionid', 'suggestiontitle'],
    columns: {
      key: ['suggestionid'],
      title: ['suggestiontitle'],
      content: ['suggestionbody', 'suggestiontext'],
      board: ['suggestionforumname', 'forumname'],
      email: ['suggestioncreatoremailaddress', 'creatoremailaddress', 'useremailaddress', 'useremail'],
      full_name: ['suggestioncreatorname', 'creatorname', 'username'],
    },
  },
  {
    id: 'featurebase',
    name: 'Featurebase',
    has: ['title', 'content', 'upvotes', 'board'],
    columns: {
      key: ['id', 'postid', 'submissionid'],
      title: ['title'],
      content: ['content'],
      board: ['board'],
      email: ['authoremail', 'useremail', 'email'],
      full_name: ['authorname', 'author', 'name'],
    },
  },
  {
    id: 'productboard',
    name: 'Productboard',
    has: ['notetitle', 'notetext'],
    columns: {
      key: ['noteid', 'externalid', 'sourceid'],
      title: ['notetitle'],
      content: ['notetext'],
      email: ['useremail', 'customeremail'],
      full_name: ['username', 'customername'],
    },
  },
  {
    id: 'zendesk',
    name: 'Zendesk',
    has: ['subject', 'requester', 'id', 'status'],
    columns: {
      key: ['id'],
      title: ['subject'],
      content: ['description'],
      email: ['requesteremail'],
      full_name: ['requester', 'requestername'],
    },
  },
  {
    id: 'zendesk',
    name: 'Zendesk',
    has: ['ticketid', 'ticketsubject'],
    columns: {
      key: ['ticketid'],
      title: ['ticketsubject'],
      content: ['ticketdescription', 'description'],
      email: ['requesteremail'],
      full_name: ['requestername'],
    },
  },
  {
    id: 'jira',
    name: 'Jira',
    has: ['summary', 'issuekey'],
    columns: {
      key: ['issuekey'],
      title: ['summary'],
      content: ['description'],
      board: ['projectname'],
      email: ['reporteremail'],
      full_name: ['reporter'],
    },
  },
  {
    id: 'linear',
    name: 'Linear',
    has: ['id', 'team', 'title', 'description', 'estimate', 'priority'],
    columns: { key: ['id'], title: ['title'], content: ['description'], board: ['team'] },
  },
  {
    id: 'github',
    name: 'GitHub issues',
    has: ['number', 'title', 'body', 'state'],
    columns: { key: ['url', 'htmlurl', 'number'], title: ['title'], content: ['body'] },
  },
  {
    id: 'trello',
    name: 'Trello',
    has: ['cardid', 'cardname'],
    columns: { key: ['cardid'], title: ['cardname'], content: ['carddescription'], board: ['boardname'] },
    states: ['listname'],
  },
  {
    id: 'asana',
    name: 'Asana',
    has: ['taskid', 'name', 'notes', 'createdat'],
    columns: { key: ['taskid'], title: ['name'], content: ['notes'], board: ['projects'] },
    states: ['sectioncolumn'],
  },
  {
    id: 'notion',
    name: 'Notion',
    has: ['name', 'tags', 'createdtime'],
    columns: { key: ['id', 'uniqueid'], title: ['name'], content: ['description', 'text', 'summary'] },
  },
  {
    id: 'airtable',
    name: 'Airtable',
    has: ['name', 'notes', 'assignee', 'status'],
    columns: { key: ['recordid', 'id'], title: ['name'], content: ['notes'], board: ['board', 'category'] },
  },
];
