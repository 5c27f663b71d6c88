import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openCsv } from '../../../src/outbox/import/csv/read.ts';
import type { Encoding } from '../../../src/outbox/import/csv/text.ts';
import { accepted, inChunks, outcomes, read, readChunked, refusal } from './feed.ts';

const TEXT = 'board,title,content\nidées,Größe 👩‍🚀,"שלום\r\n𝄞"\n';

function utf16(text: string, bigEndian: boolean): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return bigEndian ? bytes.swap16() : bytes;
}

describe('encodings', () => {
  const FILES: [string, Buffer, string, boolean][] = [
    ['UTF-8', Buffer.from(TEXT), 'utf-8', false],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${TEXT}`), 'utf-8', true],
    ['UTF-8 with three marks', Buffer.from(`\uFEFF\uFEFF\uFEFF${TEXT}`), 'utf-8', true],
    ['UTF-16 LE with a mark', utf16(`\uFEFF${TEXT}`, false), 'utf-16le', true],
    ['UTF-16 BE with a mark', utf16(`\uFEFF${TEXT}`, true), 'utf-16be', true],
    ['UTF-16 LE with two marks', utf16(`\uFEFF\uFEFF${TEXT}`, false), 'utf-16le', true],
  ];
  for (const [name, bytes, encoding, bom] of FILES) {
    test(`${name} is read exactly`, async () => {
      const file = await read(bytes);
      assert.deepEqual([file.encoding, file.bom], [encoding, bom]);
      assert.deepEqual(file.headers, ['board', 'title', 'content']);
      assert.deepEqual(accepted(file.rows[0]).cells, ['idées', 'Größe 👩‍🚀', 'שלום\r\n𝄞']);
    });
  }

  for (const bigEndian of [false, true]) {
    test(`half a character in UTF-16 ${bigEndian ? 'BE' : 'LE'} refuses its row and no other`, async () => {
      const text = '\uFEFFboard,title\nb,one\nb,t\uD83Dwo\nb,three\nb,\uDE00\uD83D\nb,four 😀\n';
      assert.deepEqual(outcomes(await read(utf16(text, bigEndian))), [
        [2, 'ok'],
        [3, 'has half a character (a lone surrogate) in line 3'],
        [4, 'ok'],
        [5, 'has half a character (a lone surrogate) in line 5'],
        [6, 'ok'],
      ]);
    });

    test(`UTF-16 ${bigEndian ? 'BE' : 'LE'} cut in the middle of a character refuses the last row`, async () => {
      const whole = utf16('\uFEFFboard,title\nb,one\nb,two😀', bigEndian);
      for (const cut of [1, 2, 3]) {
        const rows = outcomes(await read(whole.subarray(0, whole.length - cut)));
        assert.deepEqual(
          rows.map(([line]) => line),
          [2, 3],
        );
        assert.match(rows[1]?.[1] ?? '', /half a character/);
      }
    });
  }

  const WESTERN = 'board,title,content\nb,Größe,"Üben, naïve – “déjà” €5"\nb,plain,text\n';
  const windows1252 = Buffer.from(
    [...WESTERN].map((c) => ({ '–': 0x96, '“': 0x93, '”': 0x94, '€': 0x80 })[c] ?? c.charCodeAt(0)),
  );

  test('windows-1252, and Latin-1 as a part of it, is told by its bytes and read exactly', async () => {
    const file = await read(windows1252);
    assert.equal(file.encoding, 'windows-1252');
    assert.deepEqual(accepted(file.rows[0]).cells, ['b', 'Größe', 'Üben, naïve – “déjà” €5']);
    assert.equal((await read(Buffer.from('board,title\nb,caf\xe9\n', 'latin1'))).encoding, 'windows-1252');
  });

  test('each character of windows-1252 that Latin-1 does not have is read, whatever the Node', async () => {
    const bytes = Array.from({ length: 32 }, (_, i) => 0x80 + i).filter(
      (byte) => ![0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte),
    );
    const line = Buffer.from([...Buffer.from('board,title\nb,'), ...bytes, 0x0a]);
    const file = await read(line, { encoding: 'windows-1252' });
    assert.equal(accepted(file.rows[0]).post.title, '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ');
  });

  const LATIN1 = [
    'Grüße',
    'süß',
    'Größere Schrift für alle',
    'Müßiggang',
    'coração',
    'ções',
    'Åå',
    'créées',
    'åäö',
    'ÄÖÜß',
    '(ÆØÅ)',
  ];
  for (const words of LATIN1) {
    test(`${words} in Latin-1 is read, though its accents stand together`, async () => {
      const file = await read(Buffer.from(`board,title\n${`b,${words}\n`.repeat(20)}`, 'latin1'));
      assert.deepEqual([file.encoding, accepted(file.rows[19]).post.title], ['windows-1252', words]);
    });
  }

  test('the whole file tells, also where its first megabyte is plain', async () => {
    const plain = `board,title\n${`b,${'plain '.repeat(200)}\n`.repeat(1000)}`;
    const western = await readChunked(Buffer.from(`${plain}b,M\xfcll\n`, 'latin1'));
    assert.equal(western.encoding, 'windows-1252');
    assert.equal(accepted(western.rows.at(-1)).post.title, 'Müll');
    const damaged = await readChunked(Buffer.from(`${plain}b,M\xc3\xbcll\nb,M\xfcll\n`, 'latin1'));
    assert.equal(damaged.encoding, 'utf-8');
    assert.deepEqual(
      outcomes(damaged)
        .slice(-2)
        .map(([, outcome]) => outcome),
      ['ok', `has a byte that is not UTF-8 in line 1003; ${HINT}`],
    );
  });

  const HINT =
    'save the file as "CSV UTF-8", or choose its encoding (--encoding windows-1252, windows-1250, shift_jis …)';

  test('what is valid UTF-8 by chance does not outweigh the rest', async () => {
    const file = await read(
      Buffer.from(`board,title\n${'b,M\xfcll\n'.repeat(30)}b,\xabCAF\xc9\xbb\n`, 'latin1'),
    );
    assert.equal(file.encoding, 'windows-1252');
    assert.equal(accepted(file.rows.at(-1)).post.title, '«CAFÉ»');
  });

  test('a byte that windows-1252 does not have refuses its row', async () => {
    const rows = `${'b,M\xfcll\n'.repeat(20)}b,M\x81ll\n`;
    const file = await read(Buffer.from(`board,title\n${rows}`, 'latin1'));
    assert.equal(file.encoding, 'windows-1252');
    assert.deepEqual(outcomes(file).at(-1), [
      22,
      'has a byte that is no character of windows-1252 in line 22',
    ]);
  });

  test('UTF-8 with one broken character stays UTF-8: only its row is refused', async () => {
    const broken = Buffer.concat([Buffer.from('board,title\nb,é\nb,ü\nb,ö\nb,'), Buffer.from([0xe9, 0x0a])]);
    const file = await read(broken);
    assert.equal(file.encoding, 'utf-8');
    assert.deepEqual(
      outcomes(file).map(([, outcome]) => outcome === 'ok'),
      [true, true, true, false],
    );
  });

  const OTHERS = {
    'windows-1251': '\xcf\xf0\xe8\xe2\xe5\xf2 \xec\xe8\xf0',
    'windows-1253': '\xca\xe1\xeb\xe7\xec\xdd\xf1\xe1',
    GBK: '\xd6\xd0\xce\xc4',
    'code page 850': 'K\x84se h\x94ren',
    'Mac Roman': 'K\x8ase f\x9fr',
  };
  for (const [name, bytes] of Object.entries(OTHERS)) {
    test(`${name} is not taken for Western text`, async () => {
      const file = await read(Buffer.from(`board,title\nb,${bytes}\n`, 'latin1'));
      assert.deepEqual([file.encoding, file.rows[0]?.ok], ['utf-8', false]);
    });
  }

  const asWindows1252 = (text: string): Buffer =>
    Buffer.from(
      [...text].map((c) => {
        const at = '€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ'.indexOf(c);
        return at < 0 || c === '\0' ? c.charCodeAt(0) : 0x80 + at;
      }),
    );
  const WESTERN_TITLES = [
    ['Größere Schrift für alle Menüs', 'Straße', 'Ärger mit Ölständen'],
    ['Où est-ce ? Déjà très sûr, naïf, cœur, œuvre, ça coûte 5 € – « oui »', 'l’été n°5'],
    ['¿Cómo añado más años? ¡Así no! ¿qué? ¡vale! 1º, 2ª, Mª José', 'Nº 5'],
    ['Não há opções, põe ações, manhã, irmãs, órfão, São João', 'Avançado'],
    ['Perché è così, più, può, città, lunedì, caffè', 'È già qui'],
    ['Søg i køen, miljøet, Ønsker, prøve, før, blå, æbler', 'træet'],
    ['Höger knapp på skärmen, även här, idéer', 'Åland'],
    ['Þetta er ný síða, samþykkja, íþróttir, bæinn', 'Ísland'],
    ['Võimalus lisada õige päev, töö, šokk, žanr', 'Tõlge'],
    ['Això és història, què, l·l, ciència, països', 'Ús'],
    ['Costs £5 or €5, 20 °C, §3, 5½ hours, 10 m² and 3 cm³, ±2, x³', 'Acme® and Foo™, © us'],
    ['“Smart” quotes, it’s – a dash — and an ellipsis…', '‘single’ • bullet'],
    ['Punt na hÉireann, in Éirinn', 'café'],
    ['CAFÉ À LA CARTE, GRÖSSE, ÜBER', 'ÉCRAN'],
  ];
  for (const titles of WESTERN_TITLES) {
    test(`"${titles[0]}" is windows-1252`, async () => {
      const file = await read(asWindows1252(`board;title\n${titles.map((t) => `b;"${t}"\n`).join('')}`));
      assert.equal(file.encoding, 'windows-1252');
      assert.deepEqual(
        file.rows.map((row) => accepted(row).post.title),
        titles,
      );
    });
  }

  /** As windows-1252 would show them. */
  const NOT_WESTERN = [
    ['Polish in ISO-8859-2', '£ód¼ ¿ó³w ciê¿ki'],
    ['Polish in ISO-8859-2', '¬le dzia³a wyszukiwanie w czê¶ci'],
    ['Polish in windows-1250', 'Brak mo¿liwoœci wyœwietlenia ca³ej listy'],
    ['Polish in windows-1250', 'Proszê dodaæ wiêksz¹ czcionkê'],
    ['Czech in windows-1250', 'Možnost øazení sloupcù'],
    ['Czech in windows-1250', 'Nìkdy pøi uložení èasu zmizí øádek'],
    ['Czech in ISO-8859-2', 'Mo¾nost øazení sloupcù'],
    ['Slovak in windows-1250', 'Ve¾mi pomalé naèítanie stránky'],
    ['Slovak in ISO-8859-2', 'Veµmi pomalé naèítanie stránky'],
    ['Hungarian in windows-1250', 'Legyen elérhetõ az idõpont mûködés közben'],
    ['Hungarian in ISO-8859-2', 'Gyûjtemény szûrõ és idõ'],
    ['Romanian in windows-1250', 'Cãutare în informaþii ºi setãri'],
    ['Slovenian in windows-1250', 'Naèin prikaza raèuna in veè možnosti'],
    ['Turkish in windows-1254', 'Adý ve soyadý alaný'],
    ['German in code page 850', 'Gr”áere Schrift'],
    ['French in code page 850', 'D‚j… tr\x8as bien, pr‚f‚r‚'],
    ['Spanish in code page 850', 'Informaci¢n y configuraci¢n'],
    ['German in Mac Roman', 'Gršßere Schrift fŸr alle'],
  ];
  for (const [name, title] of NOT_WESTERN) {
    test(`"${title}" (${name}) is not taken for windows-1252`, async () => {
      const file = await read(asWindows1252(`board,title\nb,"${title}"\n`));
      assert.deepEqual(outcomes(file), [[2, `has a byte that is not UTF-8 in line 2; ${HINT}`]]);
    });
  }

  const NAMED: [Encoding, string, string][] = [
    ['windows-1250', '£ód\x9f ¿ó³w \x8ci', 'Łódź żółw Śi'],
    ['iso-8859-2', '£ód¼ ¿ó³w', 'Łódź żółw'],
    ['windows-1251', '\xcf\xf0\xe8\xe2\xe5\xf2', 'Привет'],
    ['windows-1253', '\xca\xe1\xeb\xe7\xec\xdd\xf1\xe1', 'Καλημέρα'],
    ['windows-1254', 'da\xf0 \xfeey', 'dağ şey'],
    ['iso-8859-15', '5 \xa4 c\xbdur', '5 € cœur'],
    ['shift_jis', '\x95\\\x8e\xa6\x83\\\x81[\x83g', '表示ソート'],
    ['gb18030', '\xc9\xee\xc9\xab\xc4\xa3\xca\xbd', '深色模式'],
    ['big5', '\xb2`\xa6\xe2\xbc\xd2\xa6\xa1', '深色模式'],
    ['euc-kr', '\xb4\xd9\xc5\xa9 \xb8\xf0\xb5\xe5', '다크 모드'],
  ];
  for (const [encoding, bytes, title] of NAMED) {
    test(`${encoding} is read where a person names it`, async () => {
      const file = await read(Buffer.from(`board,title\nb,${bytes}\n`, 'latin1'), { encoding });
      assert.equal(accepted(file.rows[0]).post.title, title);
    });
  }

  test('half a character of a named encoding refuses its row, and one that a chunk cuts does not', async () => {
    const rows = Buffer.from(`board,title\nb,\x83\\\nb,\x81\xff\nb,${'\x83\x5c'.repeat(40_000)}\n`, 'latin1');
    const file = await readChunked(rows, { encoding: 'shift_jis' });
    assert.deepEqual(outcomes(file), [
      [2, 'ok'],
      [3, 'has a byte that is no character of shift_jis in line 3'],
      [4, 'ok'],
    ]);
    assert.equal(accepted(file.rows[2]).post.title, 'ソ'.repeat(40_000));
  });

  test('a byte that a named encoding does not have refuses its row', async () => {
    const file = await read(Buffer.from('board,title\nb,\x81\n', 'latin1'), { encoding: 'windows-1250' });
    assert.deepEqual(outcomes(file), [[2, 'has a byte that is no character of windows-1250 in line 2']]);
  });

  test('a person can say which encoding it is', async () => {
    const file = await read(Buffer.from('board,title\nb,\xe9\xe8\xe0\n', 'latin1'), {
      encoding: 'windows-1252',
    });
    assert.equal(accepted(file.rows[0]).post.title, 'éèà');
  });

  test('a mark inside the text is text', async () => {
    const file = await read('board,title\nb,a\uFEFFb\n');
    assert.equal(accepted(file.rows[0]).post.title, 'a\uFEFFb');
  });
});

describe('what is not CSV text is refused with what it looks like', () => {
  const xlsx = Buffer.concat([Buffer.from('PK\x03\x04\x14\0\x06\0', 'latin1'), Buffer.alloc(600, 7)]);
  const FILES: [string, Buffer, RegExp, RegExp][] = [
    ['gzip', gzipSync(TEXT), /gzip archive/, /gunzip/],
    ['a workbook', xlsx, /\.xlsx workbook/, /save it as "CSV UTF-8"/],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae100000000', 'hex'), /\.xls workbook/, /CSV UTF-8/],
    ['a PDF', Buffer.from('%PDF-1.7\n'), /PDF/, /CSV/],
    [
      'UTF-16 LE without a mark',
      utf16('board,title\nb,t\n', false),
      /UTF-16 text without a byte order mark/,
      /CSV UTF-8/,
    ],
    [
      'UTF-16 BE without a mark',
      utf16('board,title\nb,t\n', true),
      /UTF-16 text without a byte order mark/,
      /CSV UTF-8/,
    ],
    ['UTF-32', Buffer.from('fffe000062000000', 'hex'), /UTF-32/, /CSV UTF-8/],
    ['a web page', Buffer.from('\n<!DOCTYPE html><html><title>Sign in</title>'), /a web page/, /Sign in/],
    ['NUL everywhere', Buffer.alloc(1000), /binary data/, /CSV UTF-8/],
  ];
  for (const [name, bytes, message, hint] of FILES) {
    test(name, async () => {
      const error = await refusal(bytes);
      assert.match(error.message, message);
      assert.match(error.hint ?? '', hint);
    });
  }
});

describe('the source', () => {
  test('is read as the rows are walked, and closed when the walk ends early or the file is refused', async () => {
    for (const [text, walk] of [
      ['board,title\nb,t\n', true],
      ['votes\n1\n', false],
    ] as const) {
      let open = 0;
      let chunks = 0;
      async function* source() {
        open++;
        try {
          for (; ; chunks++) yield Buffer.from(text.repeat(10_000));
        } finally {
          open--;
        }
      }
      // Without it the whole file is read first, and this one has no end.
      const encoding = 'utf-8' as const;
      if (walk) {
        const file = await openCsv(source, { encoding });
        assert.ok(chunks < 4);
        for await (const batch of file.rows) if (batch.length > 0) break;
      } else {
        await assert.rejects(openCsv(source, { encoding }));
      }
      assert.equal(open, 0);
    }
  });

  test('tells how many of its bytes were read', async () => {
    const seen: number[] = [];
    const bytes = utf16(`\uFEFF${TEXT}`, false);
    const file = await openCsv(inChunks(bytes, 50), { onProgress: (count) => seen.push(count) });
    for await (const batch of file.rows) assert.ok(batch.length > 0);
    assert.deepEqual(
      seen,
      [50, 100, bytes.length].filter((count, i, all) => i === 0 || count !== all[i - 1]),
    );
  });

  test('is left when the signal says so', async () => {
    const controller = new AbortController();
    const file = await openCsv(inChunks(Buffer.from(`board,title\n${'b,t\n'.repeat(200_000)}`), 6000), {
      signal: controller.signal,
    });
    await assert.rejects(
      async () => {
        for await (const batch of file.rows) if (batch.length > 0) controller.abort();
      },
      { name: 'AbortError' },
    );
  });

  test('may fail, and its own error comes through', async () => {
    async function* source() {
      yield Buffer.from('board,title\nb,t\n');
      throw new Error('the disk is gone');
    }
    await assert.rejects(openCsv(source), /the disk is gone/);
  });
});

describe('memory', () => {
  test('is not spent on a header line without an end', async () => {
    let chunks = 0;
    async function* source() {
      yield Buffer.from('title,"board');
      for (; ; chunks++) yield Buffer.alloc(1024 * 1024, `${'x'.repeat(63)}\n`);
    }
    const opened = openCsv(source, { encoding: 'utf-8' });
    await assert.rejects(opened, { code: 'usage', message: /^the header in line 1 has no end/ });
    assert.ok(chunks < 20);
  });

  test('stays flat over a quote that is never closed, and the loss is told', async () => {
    const chunk = Buffer.from(`${'x'.repeat(63)}\n`.repeat(1024));
    const chunks = 640;
    async function* source() {
      yield Buffer.from('board,title,content\nb,t,"');
      for (let i = 0; i < chunks; i++) yield chunk;
    }
    let most = 0;
    const before = process.memoryUsage().arrayBuffers;
    const onProgress = () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    };
    const file = await openCsv(source, { onProgress });
    const rows = [];
    for await (const batch of file.rows) rows.push(...batch);
    assert.deepEqual(rows, [
      {
        ok: false,
        line: 2,
        cells: [],
        reason: `has a quote opened in line 2 that is never closed, so the ${1024 * chunks - 1} lines after it were read as part of this row`,
      },
    ]);
    assert.ok(most < 24 * 1024 * 1024, `${most} bytes were held`);
  });
});
