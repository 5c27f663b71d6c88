import { foldedName } from '../../../text/text.ts';

/** Names of columns, or words of them, as `foldedName` spells them: case, accents, spaces and punctuation do not count. */
export interface Vocabulary {
  has(name: string): boolean;
  /** Whether a header has one of these among its words; Japanese and Chinese put none between them. */
  isIn(header: { name: string; words: readonly string[] }): boolean;
}

function vocabulary(...lists: string[]): Vocabulary {
  const names = new Set(lists.flatMap((list) => list.split(/[,\n]/)).map(foldedName));
  names.delete('');
  const unspaced = [...names].filter((name) => /\p{Lo}/u.test(name));
  return {
    has: (name) => names.has(name),
    isIn: ({ name, words }) =>
      words.some((word) => names.has(word)) || unspaced.some((part) => name.includes(part)),
  };
}

/** The words of a header, also of camelCase and snake_case, each spelt like the names above. */
export function wordsOf(text: string): string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').normalize('NFKD');
  const words = spaced.replace(/\p{M}/gu, '').match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map(foldedName);
}

const POSTS =
  'post idea suggestion ticket task issue card note feature request item story bug case conversation';
/** "Idea name", "Task name" and so on. */
const ofPosts = (...names: string[]): string =>
  POSTS.split(' ')
    .flatMap((post) => names.map((name) => `${post} ${name}`))
    .join(',');
const ASKERS = 'author user customer contact requester reporter creator submitter sender contributor client';
const ofAskers = (...names: string[]): string =>
  ASKERS.split(' ')
    .flatMap((asker) => names.map((name) => `${asker} ${name}`))
    .join(',');

/**
 * The other names of each field: those of English, of exports that are common, and of the word itself in the languages of the documents. A
 * name of the second list is used where the file has none of the first.
 */
export const FIELD_NAMES = {
  title: [
    vocabulary(
      ofPosts('title', 'name', 'subject', 'summary'),
      `title, subject, headline, summary, idea, feature, request, feature request, wish, suggestion, review title
      Titel, Betreff, Überschrift, Zusammenfassung, Thema, Idee, Wunsch, titre, sujet, objet, título, asunto, assunto, titolo, oggetto
      onderwerp, tytuł, temat, タイトル, 件名, 题目, 标题, 主题, 標題`,
    ),
    vocabulary(),
  ],
  content: [
    vocabulary(
      ofPosts('description', 'content', 'body', 'text', 'details'),
      `description, detail, details, body, text, content, message, review text, Beschreibung, Inhalt, Nachricht, contenu, texte, détails
      descripción, contenido, texto, mensaje, descrição, conteúdo, mensagem, descrizione, contenuto, testo, omschrijving, beschrijving
      opis, treść, 説明, 詳細, 内容, 本文, 描述, 详情, 正文, 內容`,
    ),
    vocabulary(
      `comment, comments, feedback, customer feedback, Kommentar, Rückmeldung, commentaire, comentario, comentário, commento`,
    ),
  ],
  email: [
    vocabulary(
      ofAskers('email', 'mail', 'email address'),
      `email, e-mail, mail, email address, e-mail address, created by email, submitted by email, E-Mail-Adresse, Mailadresse, courriel
      adresse e-mail, correo, correo electrónico, correio, endereço de e-mail, indirizzo email, e-mailadres, adres e-mail
      メール, メールアドレス, リクエスタのメール, 邮箱, 电子邮件, 電子郵件`,
    ),
    vocabulary('requester'),
  ],
  full_name: [
    vocabulary(
      ofAskers('name'),
      `author, username, customer, sender, submitter, contributor, client, created by name, submitted by, Kunde, Kundenname
      Absender, Autor, Melder, Ersteller, nom complet, auteur, demandeur, nombre completo, solicitante, cliente, nome completo, autore
      richiedente, klant, aanvrager, volledige naam, klient, zgłaszający, imię i nazwisko, 氏名, お名前, 顧客名, 作成者, 姓名, 客户, 作者`,
    ),
    vocabulary('name, requester, nom, nombre, nome, naam, imię, 名前, 名字'),
  ],
  board: [
    vocabulary(`
      board, board slug, board name, category, category name, categories, forum, area, product area, area path, section, Kategorie
      Kategorien, Bereich, Produktbereich, Rubrik, catégorie, catégories, rubrique, domaine, tableau, categoría, categorías, foro, tablero
      área, sección, categoria, categorias, quadro, seção, fórum, bacheca, sezione, categorie, rubriek, gebied, kategoria, obszar, dział
      tablica, カテゴリ, カテゴリー, カテゴリー名, ボード, 分野, 分類, 领域, 类别, 分类, 板块, 版块, 類別`),
    vocabulary(),
  ],
  key: [
    vocabulary(
      ofPosts('id', 'key', 'number', 'reference'),
      `external id, external key, ref, reference, record id, response id, submission id, Kennung, Referenz, Vorgangsschlüssel, Ticketnummer
      identifiant, référence, identificador, referencia, referência, riferimento, identificativo, kenmerk, identyfikator
      管理番号, チケットid, キー, 编号`,
    ),
    vocabulary('id'),
  ],
} satisfies Record<string, readonly [usual: Vocabulary, fallback: Vocabulary]>;

export const STATE_COLUMNS = vocabulary(
  ofPosts('status', 'state', 'status name'),
  `status, state, stage, resolution, current state, workflow status, Lösung, Zustand, statut, état, estado, situação, stato, stan
  ステータス, 状態, 状态, 狀態`,
);
/** The header says that it is over; the cell says when, or whether. */
export const CLOSED_COLUMNS = vocabulary(`
  archived, is archived, closed, is closed, accepted at, closed at, closed date, closed on, close date, date closed, date time closed
  closed time, completed, is completed, completed at, completed date, completed on, done, canceled, cancelled, canceled at, resolved
  resolved at, resolved date, resolved time, erledigt, erledigt am, archiviert, geschlossen, geschlossen am, abgeschlossen am, gelöst am
  fermé le, fecha de cierre, concluído em, chiuso il, gesloten op, zamknięto, 完了日, 完成时间`);
/** A word of a state that says that the work is over, one way or the other. */
export const CLOSED_WORDS = vocabulary(`
  closed, close, done, complete, completed, shipped, released, launched, live, delivered, deployed, implemented, resolved, solved, fixed,
  finished, archived, archive, canceled, cancelled, declined, rejected, dismissed, duplicate, duplicated, merged, obsolete, abandoned,
  deleted, removed, trashed, spam, wontfix, inactive, exists
  geschlossen, erledigt, fertig, abgeschlossen, umgesetzt, veröffentlicht, ausgeliefert, gelöst, behoben, archiviert, abgelehnt, abgewiesen, abgebrochen,
  verworfen, Duplikat, storniert, zusammengeführt, zusammengefügt, gelöscht
  fermé, fermée, clos, clôturé, clôturée, terminé, terminée, fini, résolu, résolue, livré, livrée, publié, publiée, archivé, archivée, rejeté,
  rejetée, refusé, refusée, annulé, annulée, doublon
  cerrado, cerrada, hecho, hecha, completado, completada, terminado, terminada, finalizado, finalizada, resuelto, resuelta, entregado,
  publicado, publicada, lanzado, archivado, archivada, rechazado, rechazada, cancelado, cancelada, descartado, duplicado
  fechado, fechada, feito, feita, concluído, concluída, encerrado, encerrada, resolvido, resolvida, entregue, lançado, arquivado, arquivada,
  rejeitado, rejeitada, recusado
  chiuso, chiusa, fatto, fatta, completato, completata, finito, risolto, risolta, rilasciato, rilasciata, consegnato, archiviato, archiviata,
  rifiutato, rifiutata, annullato, annullata, duplicato
  gesloten, afgerond, klaar, voltooid, gereed, opgelost, opgeleverd, uitgebracht, gearchiveerd, afgewezen, geannuleerd, dubbel, gedaan
  zamknięte, zamknięty, zrobione, zakończone, zakończony, gotowe, ukończone, rozwiązane, rozwiązany, wdrożone, wydane, zarchiwizowane,
  odrzucone, odrzucony, anulowane, duplikat
  完了, 終了, 解決済み, クローズ, アーカイブ, 却下, 対応済み, リリース済み, キャンセル, 重複, 見送り, 実装済み
  已完成, 完成, 关闭, 已关闭, 已解决, 归档, 已归档, 已拒绝, 拒绝, 已上线, 已发布, 已取消, 取消, 重复, 已实现`);
/** States of several words that say so. */
export const CLOSED_PHRASES = vocabulary(`
  won't do, won't fix, will not implement, will not do, not planned, wird nicht umgesetzt, ne sera pas fait, no se hará, 対応しない, 不做`);
/** Beside such a word it is not over: "not done", "partially shipped", "to be released". */
export const NOT_YET = vocabulary(`
  not, un, partially, partly, to, for, almost, nicht, teilweise, noch, zu, pas, partiellement, no, parcialmente, não, non, parzialmente,
  niet, gedeeltelijk, nie, częściowo, 未, 未完, 部分, 一部, 待`);

/** What a post loses, by a word of its column. */
export const VOTES = vocabulary(
  'vote, votes, upvotes, score, likes, Stimmen, voix, votos, voti, stemmen, głosy, 投票, 票数',
);
export const TAGS = vocabulary(
  'tag, tags, label, labels, keywords, Schlagworte, étiquettes, etiquetas, タグ, 标签',
);
export const COMMENTS = vocabulary('comment, comments, comment count, Kommentare, commentaires, comentarios');
export const FILES = vocabulary(
  'attachment, attachments, Anhang, Anhänge, pièces, adjuntos, anexos, 添付ファイル, 附件',
);
export const VISIBILITY = vocabulary(
  ofPosts('visibility'),
  'confidential, is confidential, private, is private, visibility, vertraulich, privat, Sichtbarkeit',
);

/** Text that is not for everybody, by a word of its column. */
export const INTERNAL = vocabulary(`
  internal, private, confidential, staff, admin, crm, hidden, secret, intern, interne, interner, internes, privat, privater, vertraulich
  privé, confidentiel, interno, interna, internos, internas, privado, privada, riservato, vertrouwelijk, wewnętrzne, 社内, 内部, 非公開`);
/** May be the text of a post or what a company thinks of a customer. */
export const NOTES = vocabulary(`
  note, notes, remark, remarks, memo, Notiz, Notizen, Anmerkung, Anmerkungen, Bemerkung, Bemerkungen, remarque, remarques, nota, notas
  observaciones, observações, notitie, notities, notatka, notatki, メモ, 備考, 备注`);
/** Parts of a name, as whole headers: "Last edited time" is none. */
export const NAME_PART = vocabulary(`
  first, last, first name, last name, given name, family name, surname, Vorname, Nachname, prénom, apellido, apellidos, sobrenome, cognome
  voornaam, achternaam, nazwisko`);
/** Other facts of a list of people, by a word of its column. */
export const FACTS_OF_PEOPLE = vocabulary(`
  company, organization, organisation, employer, department, job, Firma, Unternehmen, entreprise, société, empresa, azienda, bedrijf
  phone, Telefon, telephone, téléphone, teléfono, telefone, telefono, mobile, address, birthday, salary, linkedin, 会社, 電話, 公司, 电话`);
/** What is never proposed as a title or a text, by a word of its column: who it is of, where it came from, how it is sorted. */
export const NEVER_PROPOSED = vocabulary(`
  assignee, assigned, owner, agent, voter, manager, member, members, respondent, person, people, teammate, by, source, origin, channel
  type, priority, severity, plan, segment, language, country, region, platform, browser, version, team, project, product, component, url, link
  Bearbeiter, Zugewiesen, Besitzer, Ansprechpartner, Quelle, Herkunft, Priorität, personne, personnes, encuestado, respondente, 担当者`);
