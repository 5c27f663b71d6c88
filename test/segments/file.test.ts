import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readCustomers } from '../../src/segments/file.ts';

describe('the customers file', () => {
  it('has addresses, domains, companies, plans, values and further columns', () => {
    const file = readCustomers(
      'E-Mail;Website;Account;Plan;MRR;Region\nANN@Example.com;;Acme;Pro;1.250,00 €;EU\n;https://www.beta.test/home;Beta;Free;n/a;\n@gamma.test;;Gamma;;99,5;US\n',
    );
    assert.deepEqual(file.customers, [
      {
        email: 'ann@example.com',
        domain: null,
        company: 'Acme',
        plan: 'Pro',
        value: 1250,
        extra: { Region: 'EU' },
      },
      { email: null, domain: 'beta.test', company: 'Beta', plan: 'Free', value: null, extra: {} },
      {
        email: null,
        domain: 'gamma.test',
        company: 'Gamma',
        plan: null,
        value: 99.5,
        extra: { Region: 'US' },
      },
    ]);
    assert.deepEqual(file.columns, {
      email: 'E-Mail',
      domain: 'Website',
      company: 'Account',
      plan: 'Plan',
      value: 'MRR',
      extra: ['Region'],
    });
    assert.deepEqual(file.unread, []);
  });

  it('cells and rows that cannot be read are told with line and column, and the others count', () => {
    const { customers, unread } = readCustomers(
      'email,plan,mrr\nann@example.com,Pro,about ten\nnobody,Pro,5\nbob@example.com,Pro,7\ncleo@example.com,Pro,1.200\n',
    );
    assert.deepEqual(
      customers.map(({ email, value }) => [email, value]),
      [
        ['ann@example.com', null],
        ['bob@example.com', 7],
        ['cleo@example.com', 1200],
      ],
    );
    assert.deepEqual(unread, [
      { line: 2, column: 'mrr', why: '"about ten" is no number' },
      { line: 3, column: null, why: 'the row has neither an e-mail nor a domain' },
      { line: 5, column: 'mrr', why: '"1.200" was read as 1200', isGuess: true },
    ]);
  });

  it('the first row of an address counts, however it is spelt', () => {
    const { customers, notes } = readCustomers('email,plan\nann@example.com,Pro\n ANN@example.com ,Free\n');
    assert.deepEqual(
      customers.map(({ plan }) => plan),
      ['Pro'],
    );
    assert.deepEqual(notes, ['1 row repeats an e-mail or a domain: the first row of each counts.']);
  });

  it('a column is named by a flag, and a name that the file lacks is refused with one that is near', () => {
    const text = 'Contact,Annual fee\nann@example.com,1200\n';
    assert.deepEqual(
      readCustomers(text, { email: 'contact', value: 'annual fee' }).customers[0]?.value,
      1200,
    );
    assert.throws(() => readCustomers(text, { email: 'Contac' }), /no column "Contac"/);
    assert.throws(() => readCustomers(text), /no column with e-mails or domains/);
    assert.throws(() => readCustomers(''), /empty/);
  });

  it('no text makes it fail otherwise than with a sentence about the file', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          readCustomers(`email,mrr\n${text}`);
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'usage');
        }
      }),
    );
  });
});
