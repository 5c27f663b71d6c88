import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LAYOUTS } from '../../../src/outbox/import/csv/layouts.ts';
import { inspectCsv } from '../../../src/outbox/import/csv/read.ts';
import type { ReadOptions } from '../../../src/outbox/import/csv/rows.ts';
import { identities } from '../../../src/outbox/import/csv/source-key.ts';
import { accepted, inChunks, proposalsOf, read } from './feed.ts';
import { EXAMPLES, LAYOUT_CASES } from './layout-cases.ts';

describe('the exports of other tools', () => {
  for (const { file, layout, keys, first } of LAYOUT_CASES) {
    test(`${file} is recognised, with its own ids as keys`, async () => {
      const found = await read(readFileSync(join(EXAMPLES, file)), { board: 'ideas' });
      assert.equal(found.layout, layout);
      const identify = identities(false);
      const rows = found.rows.map(accepted);
      assert.deepEqual(
        rows.slice(0, keys.length).map((row) => identify(row).source_key),
        keys,
      );
      const { title, content, email, full_name } = rows[0]?.post ?? {};
      assert.deepEqual({ title, content, email, full_name }, first);
    });
  }

  test('have one example each', () => {
    assert.deepEqual(readdirSync(EXAMPLES).sort(), LAYOUT_CASES.map(({ file }) => file).sort());
    const shown = new Set(LAYOUT_CASES.map(({ layout }) => layout));
    assert.deepEqual(
      LAYOUTS.filter(({ name }) => !shown.has(name)),
      [],
    );
  });
});

describe('people are not titles', () => {
  const unclear = async (text: string, options: ReadOptions = {}) => {
    const found = await inspectCsv(inChunks(Buffer.from(`${text}\n`), 1000), { board: 'ideas', ...options });
    return {
      layout: found.layout?.name ?? null,
      mapping: found.mapping.map(({ field, header: name }) => `${field}=${name}`),
      questions: found.questions,
    };
  };
  /** What is asked, with the proposals: `title: Wish`. */
  const asked = async (text: string, options?: ReadOptions) =>
    (await unclear(text, options)).questions.map(
      (question) => `${question.id}: ${proposalsOf(question).join(', ')}`,
    );

  test('beside an e-mail a name is the person', async () => {
    assert.deepEqual((await unclear('Headline,Comment,Email,Name')).mapping, [
      'title=Headline',
      'content=Comment',
      'email=Email',
      'full_name=Name',
    ]);
  });

  const ASKED: [string, string[]][] = [
    ['Name,Description\nAda,Please add a dark mode', ['title: Description']],
    ['Name,Comment\nAda,Please add a dark mode', ['title: Comment']],
    ['Person,Anything else\nAda,Dark mode', ['title: Anything else']],
    ['Name,Email,Phone', ['title: ']],
    [
      'Respondent,Q1 What would you improve?\nada@x.example,More speed',
      ['title: Q1 What would you improve?'],
    ],
    ['Ansprechpartner;Anliegen\nAda;Dunkles Thema bitte\nBen;Suche ist langsam', ['title: Anliegen']],
    ['Personne;Besoin;Nom du client\nAda;Mode sombre;Ben', ['title: Besoin']],
    ['Which,Idea\nDark mode,ada@x.example', ['title: Which']],
  ];
  for (const [text, questions] of ASKED) {
    test(`${JSON.stringify(text)} is asked about, and no person is proposed`, async () =>
      assert.deepEqual(await asked(text), questions));
  }

  const TITLES_OF_PEOPLE = [
    'Name,Title,Email,Feedback\nAda Lovelace,CEO,a@x.example,Please\nBob,Head of Sales,b@x.example,Yes',
    'Full Name,Title,Company,Email\nAda Lovelace,Dr.,ACME,a@x.example',
    'Title,First,Last,Email,Feedback\nMrs,Ada,Lovelace,a@x.example,Please',
    'Titel;Vorname;Nachname;Rückmeldung\nProf. Dr.;Ada;Lovelace;Bitte',
    `Name,Title,Comment\n${'Ada,Nurse practitioner,x\n'.repeat(6)}`,
    'Email,Name,Title\na@x.example,Ada,Whatever',
    'Name,Title,Email,Comment\nAda,Plumber,a@x.example,Please',
  ];
  for (const text of TITLES_OF_PEOPLE) {
    test(`the title of ${JSON.stringify(text.split('\n', 1)[0])} is that of a person`, async () => {
      const [first] = (await unclear(text)).questions;
      assert.match(first?.problem ?? '', /may be how they are addressed, or their job/);
      assert.ok(!proposalsOf(first).some((header) => /^tite?l/i.test(header)));
    });
  }

  test('a title column beside people counts as post title if it holds sentences or the file has posts', async () => {
    const clear = [
      'Title,First Name,Email,Body\nPlease add a mode for the night,Ada,a@x.example,x',
      'board,title,Name,Email\nideas,Dark mode,Ada,a@x.example',
      'Title,Author,Votes,Last edited time\nDark mode,Ada,3,now',
      'title,content,email,full_name\nDark mode,Please,a@x.example,Ada',
    ];
    for (const text of clear) assert.deepEqual(await asked(text), [], text);
  });

  test('notes are asked about, because they may be internal, and internal ones are not used', async () => {
    assert.deepEqual(await asked('Customer,Request,Notes\nAda,Dark mode,Owes us money'), ['content: Notes']);
    assert.deepEqual(await asked('Titel;Bemerkungen'), ['content: Bemerkungen']);
    assert.deepEqual(await asked('Title,Notes', { map: { content: null } }), []);
    assert.deepEqual(await asked('Title,Private note,Internal comments'), []);
  });

  test('an unused column of sentences is asked about', async () => {
    const text = 'Idea,Tell us more,State\nDark,My eyes hurt at night when I work,open';
    assert.deepEqual(await asked(text), ['content: Tell us more']);
  });

  const PEOPLE_IN_A_LAYOUT = {
    Notion: 'Name,Tags,Status,Created time,Description\nAda Lovelace,vip,Lead,now,Owes money',
    Airtable: 'Name,Notes,Assignee,Status,Attachments\nLovelace de la Cruz,Owes money,Bob,Todo,',
    Asana: 'Task ID,Created At,Name,Notes\n1,now,Grace Hopper,Call her',
    Trello: 'Card ID,Card Name\n1,Curie\n2,Marie Curie',
  };
  for (const [tool, text] of Object.entries(PEOPLE_IN_A_LAYOUT)) {
    test(`a list of people in ${tool} is not taken for posts unless a person says so`, async () => {
      const found = await unclear(text);
      assert.deepEqual(
        [found.layout, found.questions[0]?.id, proposalsOf(found.questions[0])],
        [null, 'title', []],
      );
      const title = tool === 'Trello' ? 'Card Name' : 'Name';
      const told = await unclear(text, { map: { title } });
      assert.deepEqual([told.layout, told.questions], [tool, []]);
    });
  }

  test('a list with e-mails or phones in a layout is one of people, whatever its names look like', async () => {
    const [first] = (await unclear('Name,Notes,Status,Phone\ndark mode,x,Todo,1')).questions;
    assert.deepEqual([first?.id, proposalsOf(first)], ['title', []]);
  });

  test('a column of addresses is no public field, whatever its name', async () => {
    const { mapping } = await unclear('Title,Description,Author\nDark mode,a@x.example,b@x.example');
    assert.deepEqual(mapping, ['title=Title']);
  });

  test('German, French, Spanish and Portuguese headers are read', async () => {
    const headers = {
      'Betreff;Beschreibung;E-Mail-Adresse;Name;Kategorie': ['title', 'content', 'email', 'full_name'],
      'Titre;Contenu;Courriel;Nom;Catégorie': ['title', 'content', 'email', 'full_name'],
      'Título;Descripción;Correo electrónico;Nombre;Categoría': ['title', 'content', 'email', 'full_name'],
      'Assunto;Descrição;E-mail;Nome completo;Categoria': ['title', 'content', 'email', 'full_name'],
      'Post Title,Post Body,Voter Name,Voter Email': ['title', 'content'],
      'Title,Body,Assignee email,Account manager email': ['title', 'content'],
    };
    for (const [header, fields] of Object.entries(headers))
      assert.deepEqual(
        (await unclear(header)).mapping.map((column) => column.split('=')[0]),
        fields,
        header,
      );
  });
});
