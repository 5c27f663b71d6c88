import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { inspectCsv } from '../../../src/outbox/import/csv/read.ts';
import { stateReader } from '../../../src/outbox/import/csv/state.ts';
import { inChunks, proposalsOf, read } from './feed.ts';

const FOLDER = join(import.meta.dirname, 'exports');

interface Expected {
  /** `title, content, board, email, full_name, key`: the header of each, or a dash. */
  columns: string;
  /** What is asked besides the board: `field: proposals`. */
  asks?: string[];
  /** Lines of rows that are finished by their state. */
  closed?: number[];
  /** What cannot be carried over. */
  lost: string;
}

/** Files with headers as these tools write them; what is in them was made up for the tests. */
const EXPORTS: Record<string, Expected> = {
  'aha.csv': {
    columns: 'Idea name, Idea description, Categories, Created by email, Created by name, Idea reference',
    closed: [3, 4, 7],
    lost: 'statuses, votes, who may see a row, dates',
  },
  'airtable.csv': {
    columns: 'Name, Notes, -, -, -, -',
    closed: [4, 7],
    lost: 'statuses, attachments',
  },
  'azure-devops.csv': {
    columns: 'Title, Description, Area Path, -, -, ID',
    closed: [4, 5, 8],
    lost: 'statuses, tags, dates',
  },
  'backlog-ja.csv': {
    columns: '件名, 詳細, カテゴリー名, -, -, キー',
    closed: [6, 8],
    lost: 'statuses, dates, attachments',
  },
  'bugzilla.csv': {
    columns: 'Summary, -, -, -, -, Bug ID',
    closed: [4, 6, 8],
    lost: 'statuses, dates',
  },
  'canny.csv': {
    columns: 'title, details, board, author email, author name, id',
    closed: [5, 6],
    lost: 'statuses, votes, comments, dates',
  },
  'clickup.csv': {
    columns: 'Task Name, Task Content, -, -, -, Task ID',
    closed: [4, 5, 8],
    lost: 'statuses, dates, attachments, tags, comments',
  },
  'contacts.csv': {
    columns: '-, -, -, Email, -, -',
    asks: ['title: '],
    lost: '',
  },
  'excel-de.csv': {
    columns: 'Betreff, Beschreibung, Bereich, E-Mail, Kunde, -',
    closed: [3, 4, 7],
    lost: 'statuses, dates',
  },
  'excel-es.csv': {
    columns: 'Asunto, Descripción, Categoría, Correo electrónico, Autor, Identificador',
    closed: [3, 4, 7],
    lost: 'statuses, dates',
  },
  'excel-fr.csv': {
    columns: 'Titre, Description, Catégorie, Courriel, Demandeur, Référence',
    closed: [3, 4, 7],
    lost: 'statuses, dates, votes',
  },
  'excel-it.csv': {
    columns: 'Titolo, Descrizione, Sezione, Indirizzo email, Richiedente, Riferimento',
    closed: [3, 4, 7],
    lost: 'statuses, dates',
  },
  'excel-ja.csv': {
    columns: '件名, 内容, カテゴリ, メールアドレス, 氏名, 管理番号',
    closed: [3, 4, 7],
    lost: 'statuses, dates',
  },
  'excel-nl.csv': {
    columns: 'Onderwerp, Omschrijving, Categorie, E-mailadres, Klant, Kenmerk',
    closed: [3, 4, 7],
    lost: 'statuses, dates',
  },
  'excel-pl.csv': {
    columns: 'Tytuł, Opis, Kategoria, Adres e-mail, Zgłaszający, Identyfikator',
    closed: [3, 4, 7],
    lost: 'statuses, dates',
  },
  'excel-pt.csv': {
    columns: 'Título, Descrição, Área, E-mail, Cliente, ID',
    closed: [3, 4, 7],
    lost: 'statuses, dates',
  },
  'excel-zh.csv': {
    columns: '标题, 描述, 分类, 邮箱, 姓名, 编号',
    closed: [3, 4, 7],
    lost: 'statuses, dates',
  },
  'feature-upvote.csv': {
    columns: 'Title, Description, -, Contributor email, Contributor, Suggestion ID',
    closed: [5, 7, 9],
    lost: 'statuses, votes, comments, dates, tags',
  },
  'freshdesk.csv': {
    columns: 'Subject, -, -, Email, Full name, Ticket ID',
    closed: [3, 4, 7, 8],
    lost: 'statuses, dates, tags',
  },
  'github.csv': {
    columns: 'title, body, -, -, -, url',
    closed: [3, 5, 7],
    lost: 'statuses, tags, dates',
  },
  'gitlab.csv': {
    columns: 'Title, Description, -, -, Author, Issue ID',
    closed: [2, 5, 8],
    lost: 'statuses, who may see a row, dates, tags',
  },
  'google-forms-de.csv': {
    columns: '-, -, Bereich, E-Mail-Adresse, -, -',
    asks: ['title: Was wünschen Sie sich von uns?'],
    lost: 'dates',
  },
  'google-forms.csv': {
    columns: '-, -, -, Email Address, -, -',
    asks: [
      'title: What should our product do that it does not do today?, Anything else?',
      'content: Anything else?',
    ],
    lost: 'dates',
  },
  // Most reviews have no title.
  'google-play.csv': {
    columns: '-, Review Text, -, -, -, -',
    asks: ['title: Review Text'],
    lost: 'dates',
  },
  'hubspot-tickets.csv': {
    columns: 'Ticket name, Ticket description, -, -, -, Ticket ID',
    closed: [3, 6],
    lost: 'statuses, dates',
  },
  'google-forms-fr.csv': {
    columns: '-, -, Catégorie, Adresse e-mail, -, -',
    asks: ['title: Titre de votre suggestion, Décrivez votre idée'],
    lost: 'dates',
  },
  'google-forms-ja.csv': {
    columns: '-, -, カテゴリ, メールアドレス, お名前, -',
    asks: ['title: ご要望の詳細'],
    lost: 'dates',
  },
  'intercom-no-subjects.csv': {
    columns: '-, -, -, Contact email, Contact name, Conversation ID',
    asks: ['title: First message', 'content: First message'],
    closed: [2, 4],
    lost: 'dates, statuses, tags',
  },
  'intercom.csv': {
    columns: '-, -, -, User email, User name, Conversation ID',
    asks: ['title: '],
    closed: [3, 5, 7],
    lost: 'dates, statuses',
  },
  'jira-de.csv': {
    columns: 'Zusammenfassung, Beschreibung, -, -, Autor, Vorgangsschlüssel',
    closed: [3, 6],
    lost: 'statuses, dates',
  },
  'jira.csv': {
    columns: 'Summary, Description, Project name, -, Reporter, Issue key',
    closed: [3, 6],
    lost: 'statuses, dates, tags, votes, comments',
  },
  'linear.csv': {
    columns: 'Title, Description, Team, -, -, ID',
    closed: [3, 4, 7],
    lost: 'statuses, tags, dates',
  },
  'ms-forms-de.csv': {
    columns: '-, -, -, E-Mail, Name, ID',
    asks: ['title: Was sollen wir verbessern?'],
    lost: 'dates',
  },
  'notion.csv': {
    columns: 'Name, Description, -, -, -, -',
    closed: [3, 6],
    lost: 'tags, statuses, dates, votes',
  },
  'otrs-de.csv': {
    columns: 'Betreff, Nachricht, -, -, -, Ticketnummer',
    closed: [4, 7, 10],
    lost: 'dates, statuses',
  },
  // The state of a task inside of a story is not that of the story.
  'pivotal.csv': {
    columns: 'Title, Description, -, -, -, Id',
    closed: [3, 5, 6, 7, 8, 9],
    lost: 'tags, dates, statuses, comments',
  },
  'productboard-features.csv': {
    columns: '-, Description, -, -, -, ID',
    asks: ['title: Name'],
    closed: [3, 6],
    lost: 'statuses',
  },
  'productboard-notes.csv': {
    columns: 'Note title, Note text, -, User email, User name, Note ID',
    closed: [4, 7],
    lost: 'tags, dates, statuses',
  },
  'redmine-de.csv': {
    columns: 'Thema, Beschreibung, Kategorie, -, Autor, -',
    closed: [5, 6, 8],
    lost: 'statuses, dates, who may see a row',
  },
  'sales-list-short.csv': {
    columns: '-, -, -, -, Customer name, -',
    asks: ['title: '],
    lost: '',
  },
  'sales-list.csv': {
    columns: '-, -, -, -, Customer name, -',
    asks: ['title: '],
    lost: '',
  },
  'salesforce-cases.csv': {
    columns: 'Subject, Description, -, Contact Email, Contact Name, Case Number',
    closed: [3, 6],
    lost: 'statuses, dates',
  },
  // Few members ask for many stories, so the column "name" is none of a person.
  'shortcut.csv': {
    columns: '-, description, -, requester, -, id',
    asks: ['title: name'],
    closed: [2, 3, 5, 8],
    lost: 'statuses, dates, tags',
  },
  'surveymonkey.csv': {
    columns: '-, -, -, Email Address, -, -',
    asks: [
      'title: What is the most important feature we are missing?, Any other comments?',
      'content: Any other comments?',
    ],
    lost: 'dates, comments',
  },
  'trello.csv': {
    columns: 'Card Name, Card Description, Board Name, -, -, Card ID',
    closed: [4, 5, 7],
    lost: 'tags, attachments, votes, comments, dates, statuses',
  },
  'typeform.csv': {
    columns: '-, -, -, -, -, -',
    asks: [
      'title: What would you like us to build next?, Why is that important to you?',
      'content: Why is that important to you?',
    ],
    lost: 'dates, tags',
  },
  'uservoice.csv': {
    columns:
      'suggestion.title, suggestion.body, suggestion.forum.name, suggestion.creator.email_address, suggestion.creator.name, suggestion.id',
    closed: [3, 6],
    lost: 'statuses, tags, votes, dates',
  },
  'zendesk-ja.csv': {
    columns: '件名, -, -, リクエスタのメール, -, チケットID',
    closed: [3, 4, 7, 8],
    lost: 'statuses, dates',
  },
  'zendesk.csv': {
    columns: 'Subject, Description, -, Requester email, Requester, Id',
    closed: [3, 5, 7],
    lost: 'statuses, tags, dates',
  },
};

const FIELDS = ['title', 'content', 'board', 'email', 'full_name', 'key'];

describe('what is proposed for the exports of other tools', () => {
  for (const [file, expected] of Object.entries(EXPORTS))
    test(file, async () => {
      const bytes = readFileSync(join(FOLDER, file));
      const { mapping, questions, lostColumns, headers } = await inspectCsv(inChunks(bytes, 1000));
      const headerOf = (name: string) => mapping.find(({ field }) => field === name)?.header ?? '-';
      const asks = questions.map((question) => `${question.id}: ${proposalsOf(question).join(', ')}`);
      const map = { title: headerOf('title') === '-' ? headers[0] : headerOf('title'), content: null };
      const { rows } = await read(bytes, { board: 'ideas', map });
      const closed = rows.flatMap((row) => (row.ok && row.state?.isClosed ? [row.line] : []));
      assert.deepEqual(
        {
          columns: FIELDS.map(headerOf).join(', '),
          asks: asks.filter((asked) => !asked.startsWith('board')),
          closed,
          lost: lostColumns.map(({ what }) => what).join(', '),
        },
        { asks: [], closed: [], ...expected },
      );
    });

  test('each file of the folder is expected to be something', () => {
    assert.deepEqual(new Set(readdirSync(FOLDER)), new Set(Object.keys(EXPORTS)));
  });
});

describe('a column that is proposed as a title', () => {
  const VALUES: Record<string, string[]> = {
    'few distinct values': ['intercom', 'email', 'intercom', 'email'],
    people: ['Ada Lovelace', 'Grace Hopper', 'Marie Curie'],
    times: ['2025-05-01 10:00', '2025-05-02 11:00', 'May 3, 2025 9:00 AM'],
    ids: ['FB-12', '64f0a1c9', '#31'],
    addresses: ['ada@example.com', 'Ben Brown <ben@example.com>', 'cleo@example.com'],
    links: ['https://example.com/1', 'https://example.com/2', 'www.example.com/3'],
    numbers: ['12', '3.5', '€ 1,200'],
    jobs: ['Head of Sales', 'CEO', 'Product owner'],
  };
  for (const [what, values] of Object.entries(VALUES))
    test(`is none of ${what}, whatever its header`, async () => {
      const rows = values.map((value, n) => `"${value}",ideas,${n}\n`).join('');
      const { questions } = await inspectCsv(inChunks(Buffer.from(`Anything,board,n\n${rows}`), 64));
      assert.deepEqual([questions[0]?.id, proposalsOf(questions[0])], ['title', []]);
      assert.match(questions[0]?.problem ?? '', /no other column looks fit to be the title/);
    });

  test('has texts that differ from row to row', async () => {
    const text = 'Anything,board\nSearch is slow,b\nExport to PDF,b\nDark mode please,b\n';
    const { questions } = await inspectCsv(inChunks(Buffer.from(text), 64));
    assert.deepEqual(proposalsOf(questions[0]), ['Anything']);
  });
});

describe('a column of boards', () => {
  const NAMES = [
    ...[
      'Board',
      'Category',
      'Product area',
      'Bereich',
      'Kategorie',
      'Rubrik',
      'Catégorie',
      'Rubrique',
      'Domaine',
    ],
    ...['Categoría', 'Tablero', 'Área', 'Categoria', 'Quadro', 'Sezione', 'Bacheca', 'Categorie', 'Rubriek'],
    ...['Kategoria', 'Obszar', 'Dział', 'カテゴリ', 'カテゴリー', '分野', '类别', '分类', '板块', '類別'],
  ];
  for (const name of NAMES)
    test(`is called ${name}`, async () => {
      const { mapping } = await read(`title,${name}\nDark mode,Ideas\n`);
      assert.equal(mapping.find(({ field }) => field === 'board')?.header, name);
    });

  test('is asked about where the column by its name is empty in most rows', async () => {
    const text = 'Thema,Kategorie,Projekt\nDark mode,,Web\nSearch is slow,UX,Web\nBulk edit,,App\n';
    const { mapping, questions } = await inspectCsv(inChunks(Buffer.from(text), 64));
    assert.equal(
      mapping.some(({ field }) => field === 'board'),
      false,
    );
    assert.equal(questions[0]?.problem, '"Kategorie" is empty in most rows, so it is not taken as the board');
  });
});

describe('the state of a row', () => {
  const isClosed = (text: string): boolean =>
    stateReader([{ header: 'Status', index: 0, role: 'state' }])([text])?.isClosed ?? false;
  const CLOSED = [
    ...[
      'Closed',
      'DONE',
      'complete',
      'Shipped',
      "Won't do",
      'Closed - not planned',
      'Released 🎉',
      'Archived',
    ],
    ...[
      'Erledigt',
      'Abgelehnt',
      'Terminé',
      'Fermée',
      'Cerrado',
      'Concluído',
      'Chiuso',
      'Afgerond',
      'Zamknięte',
    ],
    ...['完了', '対応済み', '已完成', '已关闭', 'Duplicate', 'merged', 'Solved'],
  ];
  const OPEN = [
    ...[
      'Open',
      'New',
      'To do',
      'In progress',
      'Planned',
      'Under review',
      'Not done',
      'Unresolved',
      'Backlog',
    ],
    ...[
      'Partially shipped',
      'To be released',
      'Ready for release',
      'offen',
      'Zu erledigen',
      'nicht erledigt',
    ],
    ...[
      'Ouvert',
      'Abierto',
      'Aberto',
      'Aperto',
      'Otwarte',
      '未対応',
      '未完了',
      '未完成',
      '处理中',
      'Idea',
      '',
    ],
  ];
  for (const text of CLOSED) test(`"${text}" is finished`, () => assert.ok(isClosed(text)));
  for (const text of OPEN) test(`"${text}" is not finished`, () => assert.ok(!isClosed(text)));

  test('is finished by a column that says when, or whether', () => {
    const read = stateReader([{ header: 'Archived', index: 0, role: 'closing' }]);
    for (const text of ['true', 'yes', '2025-05-01', 'x']) assert.equal(read([text])?.text, 'Archived');
    for (const text of ['', 'false', 'No', '0', 'nein', 'いいえ']) assert.equal(read([text]), null);
  });
});
