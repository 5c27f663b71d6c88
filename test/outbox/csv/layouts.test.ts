import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LAYOUTS } from '../../../src/outbox/csv/layouts.ts';
import { inspectCsv } from '../../../src/outbox/csv/read.ts';
import { sourceKeys } from '../../../src/outbox/csv/source-key.ts';
import { accepted, inChunks, read } from './feed.ts';
import { EXAMPLES, LAYOUT_CASES } from './layout-cases.ts';

describe('the exports of other tools', () => {
  for (const { file, layout, keys, first } of LAYOUT_CASES) {
    test(`${file} is recognised, with its own ids as keys`, async () => {
      const found = await read(readFileSync(join(EXAMPLES, file)), { board: 'ideas' });
      assert.equal(found.layout, layout);
      const keyOf = sourceKeys();
      const rows = found.rows.map(accepted);
      assert.deepEqual(rows.map(keyOf).slice(0, keys.length), keys);
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
  const unclear = async (header: string) => {
    const found = await inspectCsv(inChunks(Buffer.from(`${header}\n`), 1000), { board: 'ideas' });
    return {
      mapping: found.mapping.map(({ field, header: name }) => `${field}=${name}`),
      unclear: found.unclear,
    };
  };

  test('beside an e-mail a name is the person', async () => {
    assert.deepEqual((await unclear('Headline,Comment,Email,Name')).mapping, [
      'title=Headline',
      'content=Comment',
      'email=Email',
      'full_name=Name',
    ]);
  });

  test('a name alone is not taken for a title, and proposed only where the file has no people', async () => {
    const [alone] = (await unclear('Name,Description')).unclear;
    assert.deepEqual([alone?.field, alone?.proposals], ['title', ['Name']]);
    const [beside] = (await unclear('Wunschzettel,Name,Email')).unclear;
    assert.deepEqual(beside?.proposals, ['Wunschzettel']);
    const [people] = (await unclear('Name,Email,Phone')).unclear;
    assert.deepEqual(people?.proposals, []);
  });

  test('German, French, Spanish and Portuguese headers are read', async () => {
    const headers = {
      'Betreff;Beschreibung;E-Mail-Adresse;Name;Kategorie': ['title', 'content', 'email', 'full_name'],
      'Titre;Contenu;Courriel;Nom;Catégorie': ['title', 'content', 'email', 'full_name'],
      'Título;Descripción;Correo electrónico;Nombre;Categoría': ['title', 'content', 'email', 'full_name'],
      'Assunto;Descrição;E-mail;Nome completo;Categoria': ['title', 'content', 'email', 'full_name'],
    };
    for (const [header, fields] of Object.entries(headers))
      assert.deepEqual(
        (await unclear(header)).mapping.map((column) => column.split('=')[0]),
        fields,
        header,
      );
  });
});
