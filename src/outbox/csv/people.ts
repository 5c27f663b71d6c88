import { isAddress } from '../../base/email.ts';
import { foldedName } from '../../base/text.ts';

/** A column as its header and its first values show it. What is personal is told by them, since a title and a text are public. */
export interface Column {
  /** What tells it from the others (`distinctNames`). */
  header: string;
  /** The header of the file as `foldedName` spells it. */
  name: string;
  words: readonly string[];
  /** What its cells hold in the first rows, without blank ones. */
  values: readonly string[];
}

export function columnOf(header: string, index: number, sample: readonly (readonly string[])[]): Column {
  const values = sample.map((cells) => cells[index]?.trim() ?? '').filter((value) => value !== '');
  return { header, name: foldedName(header), words: wordsOf(header), values };
}

/** Also those of camelCase and snake_case. */
function wordsOf(text: string): string[] {
  const spaced = text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '');
  return (
    spaced
      .toLowerCase()
      .replaceAll('ß', 'ss')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** The words are parts of a pattern, with blanks between them. */
const anyOf = (words: string): string => `(${words.trim().replace(/\s+/g, '|')})`;
export const oneOf = (words: string): RegExp => new RegExp(`^${anyOf(words)}$`);

/** Who asked for something, in English, German, French, Spanish and Portuguese; who works on it, such as an assignee, did not. */
export const ASKER = anyOf(`
  contacts? kontakte? contactos? contatos? customers? kund(e|en|in|innen) clients? clientes? authors? autor(s|a|es|en|in|innen)?
  auteure?s? autrice creators? creat(eur|rice) creador(a)? criador(a)? ersteller(in)? users? (be)?nutzer(in|s)? usuari[oa]s?
  utilisateurs? utilisatrice request[eo]rs? submitters? senders? absender(in)? respondents?`);
/** Words for a person. */
const PERSON = oneOf(`
  ${ASKER} person(s|en|as?|nes?)? people leute pessoas? verfasser(in)? usernames? antragsteller(in)? demandeur solicitante
  befragte[rn]? repondante?s? encuestad[oa]s? respondentes? entrevistad[oa]s? interviewees? voters? wahler(in)? votante?s?
  reporters? rapporteur einsender(in)? expediteur remitente remetente from
  assignees? owners? besitzer(in)? members? mitglied(er)? membres? miembros? membros? employe?e?s? mitarbeiter(in)?
  emplead[oa]s? funcionari[oa]s? participants? teilnehmer(in|innen)? participantes? attendees? leads? subscribers? agents? managers?
  guests? patients? patienten? students? schuler(in)? ansprechpartner(in)? logins? nick(name)? who wer qui quien quem by`);
const NAME = oneOf('[a-z]*names? namen noms? nombres? nomes? initials');
/** Told by the whole header: "Last edited time" is no name. */
const NAME_PART =
  oneOf(`first last given family firstname lastname givenname familyname middlename surname vorname nachname zuname
  prenoms? apellidos? sobrenomes?`);
/** What a post is called. */
export const POST = anyOf(`
  posts? ideas? idee[ns]? ideias? suggestions? tickets? issues? requests? features? featurerequests? feedback wish(es)? wunsche?
  cards? tasks? items? story stories topics? beitrage? vorschlage? sugerencias? sugestao sugestoes submissions?`);
/** What people are asked about: "Customer request" is no person, and "Card name" is none either. */
const THING = oneOf(`
  ${POST} comments? kommentare? commentaires? comentarios? problems? probleme? problemas? title titel titre titulo subject betreff
  descriptions? beschreibung questions? fragen? messages? nachricht needs? projects? products? body text details? contents?`);
/** Between a thing and whose it is, where the thing comes first: "Autor des Beitrags", "nom de l'idée". */
const OF = oneOf('of de del della do da dos das des der du');

/** Whether a header names a person. Where it names a thing as well, what it is about decides. */
function isPerson({ name, words }: Column): boolean {
  if (NAME_PART.test(name)) return true;
  const isOf = words.findIndex((word) => OF.test(word));
  const head = words[(isOf > 0 ? isOf : words.length) - 1] ?? '';
  if (PERSON.test(head)) return true;
  const isNamed = words.some((word) => PERSON.test(word));
  const isAThing = words.some((word) => THING.test(word));
  return isAThing ? NAME.test(head) && isNamed : isNamed || words.some((word) => NAME.test(word));
}

const WORK =
  oneOf(`compan(y|ies) firma unternehmen entreprise societe empresa organi[sz]ations? organisation employer arbeitgeber
  department abteilung job position role rolle jobtitle`);
const DETAIL =
  oneOf(`phones? phonenumber telefon(nummer)? telephone telefono telefone mobile handy fax addresse?s? adresse direccion
  endereco street strasse rue calle rua city stadt ville ciudad cidade zip plz postcode birthday birthdate geburtstag geburtsdatum
  naissance nacimiento nascimento dob age alter edad idade gender geschlecht sexe sexo salary gehalt salaire salario iban bic ssn
  salutation anrede civilite tratamiento tratamento linkedin twitter ip`);
export const MAIL = /(e?mails?|courriels?|correos?)/;
/** Not for everybody, whoever wrote it. */
const INTERNAL =
  oneOf(`internal intern(e[rsn]?|a|o|as|os)? private? privat(e[rsn]?)? privee?s? privad[oa]s? confidential vertraulich
  staff admin team crm hidden secret`);
const NOTES =
  oneOf(`notes? notiz(en)? anmerkung(en)? bemerkung(en)? vermerke? remarks? remarques? notas? observacion(es)?
  observaca?o?e?s? observations? memos?`);

/** A position may also be a place in a list. */
const isOfWork = (column: Column): boolean =>
  column.words.some((word) => WORK.test(word)) && !holdsNumbers(column);

export const isInternal = ({ words }: Column): boolean => words.some((word) => INTERNAL.test(word));

/** Notes may be the text of a post or what a company thinks of a customer. */
export const isNotes = ({ words }: Column): boolean => words.some((word) => NOTES.test(word));

/** Facts about people that stand in a list of them; who works on a task is no such fact. */
export function isContactDetail(column: Column): boolean {
  const { name, words } = column;
  if (MAIL.test(name))
    return !words.some((word) => /^(assign|owner|creator|collaborator|follower)/.test(word));
  return NAME_PART.test(name) || isOfWork(column) || words.some((word) => DETAIL.test(word));
}

/** What is never proposed for a public field, and never taken for one by a guess. */
export function isPersonal(column: Column): boolean {
  return MAIL.test(column.name) || isContactDetail(column) || isPerson(column) || holdsPeople(column);
}

/** At least half of the values. */
function mostly({ values }: Column, test: (value: string) => boolean): boolean {
  return values.length > 0 && values.filter(test).length * 2 >= values.length;
}

export const holdsAddresses = (column: Column): boolean => mostly(column, isAddress);

/** Addresses, alone or as `Ann Lee <ann@example.org>`. */
export const holdsPeople = (column: Column): boolean =>
  mostly(column, (value) => isAddress(/^[^<]*<([^<>]*)>\s*$/.exec(value)?.[1] ?? value));

export const holdsNumbers = (column: Column): boolean =>
  mostly(column, (value) => /^[-+]?[\d.,\s]+%?$/.test(value));

/** Sentences, as nobody writes them into a label; code and addresses of pages are none. */
const isProse = (value: string): boolean =>
  /^[\p{L}"'“«¿¡(]/u.test(value) && (value.split(/\s+/).length >= 6 || /\p{Lo}{20}/u.test(value));

export const holdsProse = (column: Column): boolean => mostly(column, isProse);

const PARTICLE = /^(?:van|von|zu|de|da|di|del|della|der|den|dos|das|la|le|bin|ibn|al|el|y|e|und|and|&)$/;
const NAME_WORD = /^(?:[\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]*)$/u;

/** Two to four words that each begin with a capital: "Ada Lovelace", but also "Dark Mode", so a person is asked. */
function looksLikeName(words: readonly string[]): boolean {
  if (words.length > 4 || !words.every((word) => NAME_WORD.test(word))) return false;
  const isAcronym = (word: string): boolean => /^\p{Lu}{2,4}$/u.test(word);
  return words.every(isAcronym) || !words.some(isAcronym);
}

/** Of single words nothing can be told. */
export function holdsNames({ values }: Column): boolean {
  const named = values.map((value) =>
    value.split(/[\s,]+/).filter((word) => word !== '' && !PARTICLE.test(word)),
  );
  const told = named.filter((words) => words.length > 1);
  return told.length > 0 && told.filter(looksLikeName).length * 2 >= told.length;
}

const SALUTATION =
  oneOf(`mr mrs ms miss mx dr dra prof profa professor sir madam herr frau hr fr dipl ing mag m mme mlle monsieur madame
  sr sra srta don dona senor senora senhor senhora phd md mba`);
const JOB =
  oneOf(`ceo cto cfo coo cmo cio cpo s?vp president chief officer managers? director(a)? head lead co?founder founder owner
  partner engineer developer designer analyst consultant architect administrator assistant specialist coordinator executive
  representative accountant teacher student nurse buyer clerk freelancer intern leiter(in)? geschaftsfuhrer(in)? entwickler(in)?
  berater(in)? inhaber(in)? referent(in)? vertrieb sachbearbeiter(in)? direct(eur|rice) responsable ingenieure? gerante? chef
  developpeu(r|se) gerente jefe jefa ingenier[oa] desarrollador(a)? diretor(a)? engenheir[oa] gestor(a)? desenvolvedor(a)?`);

/** "Mrs", "Prof. Dr.", "Head of Sales", "Product owner". */
function isAddressOrJob(value: string): boolean {
  const words = wordsOf(value);
  if (words.length === 0 || words.length > 5) return false;
  return (
    words.every((word) => SALUTATION.test(word)) || JOB.test(words[0] ?? '') || JOB.test(words.at(-1) ?? '')
  );
}

/** Half of six values or more are there twice: titles of posts do not repeat like that. */
const repeats = ({ values }: Column): boolean =>
  values.length >= 6 && new Set(values).size * 2 <= values.length;

/**
 * Whether a column called Title is how people are addressed, or their job. Beside parts of names or a company it may be, unless it
 * holds whole sentences. Beside a name its values tell, or that the file has contacts, but neither a text nor a board.
 */
export function isTitleOfPeople(title: Column, others: readonly Column[], hasPosts: boolean): boolean {
  if (!['title', 'titel', 'titre', 'titulo'].includes(title.name) || holdsProse(title)) return false;
  const about = others.filter(({ name }) => !MAIL.test(name));
  if (about.some((column) => NAME_PART.test(column.name) || isOfWork(column))) return true;
  const isContacts = !hasPosts && (others.some(isContactDetail) || repeats(title));
  return about.some(isPerson) && (isContacts || mostly(title, isAddressOrJob));
}
