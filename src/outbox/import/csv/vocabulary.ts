import { foldedName } from '../../../text/text.ts';

/**
 * What headers are called in English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Japanese and Chinese. Each list has a
 * line or more a language; a comma ends a name. Case, accents, spaces and punctuation do not count.
 */
export interface Vocabulary {
  /** Whether a name, as `foldedName` spells it, is one of these. */
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

/** Japanese and Chinese for "of" between two words: `要望の詳細`. */
const OF_WITHOUT_SPACES = /(?<=\p{L})[の的](?=\p{L})/u;

/** The words of a header, also of camelCase and snake_case, each spelt like the names above. */
export function wordsOf(text: string): string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').normalize('NFKD');
  const words = spaced.replace(/\p{M}/gu, '').match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => word.split(OF_WITHOUT_SPACES)).map(foldedName);
}

/** Words that change nothing about what a header names. */
export const FILLER = vocabulary(`
  of, the, a, an, your, our, my, this, please, for, to, current, optional, required, s
  der, die, das, des, den, dem, von, ihr, ihre, ihrer, ihren, dein, deine, deinen, sie, bitte, genauer
  de, la, le, les, l, du, d, votre, vos, el, los, las, del, tu, su, sus, da, do, dos, das, seu, sua
  di, della, dello, dell, il, lo, i, tuo, tua, van, het, een, je, jouw, uw, twoj, twoja`);

/** What a post is called. */
const POSTS = `
  post, posts, idea, ideas, suggestion, suggestions, ticket, tickets, issue, issues, request, requests, feature, features, feedback, wish,
  wishes, card, cards, task, tasks, item, items, story, stories, topic, topics, submission, submissions, case, conversation, note, entry, review, reviews
  Idee, Ideen, Wunsch, Wünsche, Beitrag, Beitrags, Beiträge, Vorschlag, Vorschläge, Anfrage, Aufgabe, Vorgang
  idée, idées, demande, demandes, tâche, ideia, ideias, sugestão, sugestões, sugerencia, sugerencias, solicitud, tarea
  idea, idee, richiesta, suggerimento, segnalazione, verzoek, wens, idee, taak, melding, pomysł, pomysłu, zgłoszenie, zgłoszenia, zadanie
  アイデア, 要望, ご要望, 提案, ご提案, 需求, 建议, 想法`;
export const POST = vocabulary(POSTS);

export const TITLE = vocabulary(`
  title, subject, headline, summary, Titel, Betreff, Überschrift, Zusammenfassung, titre, sujet, objet, intitulé, résumé, título, asunto,
  titular, resumen, assunto, resumo, titolo, oggetto, riepilogo, onderwerp, kop, samenvatting, tytuł, temat, podsumowanie, タイトル, 件名, 題名, 表題, 要約, 标题, 主题, 標題, 主題, 摘要, 概要`);
/** A post's own name is its title: "Idea", "Feature request", "Wunsch". */
export const POST_AS_TITLE = vocabulary(`
  idea, request, feature, feature request, wish, suggestion, Thema, Idee, Wunsch, Vorschlag, idée, souhait, sugerencia, solicitud, ideia,
  sugestão, richiesta, suggerimento, verzoek, wens, pomysł, propozycja, アイデア, 要望, ご要望, 需求, 建议, 想法, 需求标题`);

export const TEXT = vocabulary(`
  description, detail, details, body, text, content, contents, message, full text
  Beschreibung, Inhalt, Nachricht, Freitext, Erläuterung, description, contenu, texte, détail, détails
  descripción, contenido, texto, mensaje, detalle, detalles, descrição, conteúdo, mensagem, detalhe, detalhes
  descrizione, contenuto, testo, messaggio, dettagli, omschrijving, beschrijving, inhoud, tekst, bericht, toelichting
  describe, beschreiben, beschreibe, décrivez, décrire, describa, descreva, descriva, beschrijf, opisz
  opis, treść, wiadomość, szczegóły, 説明, 詳細, 内容, 本文, メッセージ, 描述, 内容, 详情, 正文, 说明, 內容, 詳情`);
/** Taken for the text where nothing better is there. */
export const COMMENT = vocabulary(`
  comment, comments, feedback, Kommentar, Kommentare, Rückmeldung, commentaire, commentaires, comentario, comentarios, comentário,
  comentários, commento, commenti, opmerking, opmerkingen, reactie, komentarz, komentarze, uwagi
  コメント, フィードバック, ご意見, 意見, 评论, 反馈, 意见, 留言, 評論`);
/** Before a comment: whose it is. */
export const WHOSE = vocabulary(
  'customer, user, client, Kunden, additional, general, public, further, weitere, other',
);

export const BOARD = vocabulary(`
  board, board slug, board name, category, category name, categories, forum, Kategorien, catégories, categorías, categorias, area, product area, section, Kategorie, Bereich, Produktbereich, Rubrik
  catégorie, rubrique, domaine, tableau, categoría, foro, tablero, área, sección, categoria, quadro, seção, fórum
  categoria, area, bacheca, sezione, categorie, rubriek, gebied, onderdeel, kategoria, obszar, dział, tablica, sekcja
  カテゴリ, カテゴリー, カテゴリー名, ボード, 分野, 分類, 领域, 类别, 分类, 板块, 版块, 看板, 類別`);

export const MAIL = vocabulary(`
  email, e-mail, mail, emails, Mailadresse, Emailadresse, emailadres, mailadres, created by email, submitted by email, courriel, mél, correo, correio, posta, poczta, メール, メールアドレス, eメール
  邮箱, 电子邮件, 邮件, 电子邮箱, 電子郵件, 信箱`);
/** Around the name of an address. */
export const ADDRESS_WORD = vocabulary(`
  address, Adresse, Adressen, dirección, endereço, indirizzo, adres, electronic, electrónico, eletrônico, électronique, elettronica,
  elettronico, elektroniczna, id`);

/** Who asked for something; who works on it, such as an assignee, did not. */
const ASKERS = `
  contact, contacts, customer, customers, client, clients, author, authors, creator, creators, user, users, requester, requestor,
  requesters, submitter, contributor, sender, respondent, respondents, reporter
  Kontakt, Kontakte, Kunde, Kunden, Kundin, Kundinnen, Autor, Autors, Autorin, Autoren, Ersteller, Erstellerin, Nutzer, Nutzerin,
  Benutzer, Absender, Absenderin, Melder, Einsender, auteur, auteurs, autrice, utilisateur, utilisatrice, créateur, demandeur
  contacto, contactos, cliente, clientes, autor, autora, autores, usuario, usuarios, creador, solicitante, contato, usuário, criador
  autore, utente, richiedente, contatto, creatore, klant, klanten, gebruiker, aanvrager, indiener, melder
  klient, klienta, autora, użytkownik, użytkownika, zgłaszający, zgłaszającego`;
export const ASKER = vocabulary(ASKERS);

export const ASKERS_NAME = vocabulary(`
  author, author name, username, user name, customer, customer name, creator, creator name, requester name, sender, sender name,
  submitter, submitter name, contributor, contributor name, contact name, created by name, submitted by, submitted by name, Vollständiger Name, Melder, Autor, Kunde, Kundenname, Absender, Ersteller, Name des Autors, Vor- und Nachname
  nom complet, auteur, demandeur, client, nom du client, nom de l'auteur, nom et prénom, nombre completo, solicitante, autor, cliente, nombre del autor, nombre y apellidos
  nome completo, nome do cliente, nome do autor, autore, richiedente, nome e cognome, klant, klantnaam, aanvrager, indiener, volledige naam
  klient, zgłaszający, imię i nazwisko
  作成者, 投稿者, 氏名, お名前, 顧客名, 顧客, 作者, 姓名, 客户, 客户名称, 客户姓名, 提交人, 用户名`);
/** Taken for the name of a person beside their address only. */
export const ANY_NAME = vocabulary('name, requester, nom, nombre, nome, naam, imię, 名前, 名字');

export const KEY = vocabulary(`
  external id, ref, reference, external key, ticket id, issue key, bug id, card id, task id, post id, idea id, idea reference, case number,
  conversation id, response id, Vorgangsschlüssel, clé de ticket, clave de incidencia, chave do item, record id, submission id, feature id, Referenz, Kennung, Vorgangsnummer, Ticketnummer, identifiant,
  référence, referencia, identificador, referência, riferimento, identificativo, referentie, kenmerk, identyfikator, numer zgłoszenia
  識別子, 管理番号, チケット番号, チケットid, キー, 课题关键字, 编号, 工单编号, 唯一标识`);
export const ID = vocabulary('id, 番号');

export const STATE = vocabulary(`
  status, state, stage, resolution, Lösung, résolution, resolución, resolução, risoluzione, workflow status, Bearbeitungsstatus, Bearbeitungsstand, Zustand, statut, état, estado, situação
  stato, toestand, stan, ステータス, 状態, 状況, 状态, 狀態`);
/** The header says that it is over; the cell says when, or whether. */
export const CLOSING = vocabulary(`
  archived, is archived, closed, is closed, accepted at, closed at, closed date, closed on, close date, date closed, date time closed, conversation closed at
  completed, completed at, completed date, completed on, date completed, done, canceled, cancelled, canceled at, resolved, resolved at
  resolved date, closed time, resolved time, erledigt, erledigt am, archiviert, geschlossen am, abgeschlossen am, abgeschlossen, gelöst am, archivé, fermé le, terminé le
  archivado, cerrado, cerrado el, fecha de cierre, arquivado, concluído, concluído em, fechado em, archiviato, chiuso il, completato il
  gearchiveerd, gesloten op, voltooid op, zarchiwizowane, zamknięto, data zamknięcia, アーカイブ済み, 完了日, 完了日時, 解決日
  已归档, 完成时间, 关闭时间, 解决时间`);
/** A word of a state that says that the work is over, one way or the other. */
export const CLOSED = vocabulary(`
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
export const CLOSED_PHRASE = vocabulary(`
  won't do, won't fix, will not implement, will not do, not planned, wird nicht umgesetzt, ne sera pas fait, no se hará, 対応しない, 不做`);
/** Beside such a word it is not over: "not done", "partially shipped", "to be released". */
export const NOT_YET = vocabulary(`
  not, un, partially, partly, to, for, almost, nicht, teilweise, noch, zu, pas, partiellement, no, parcialmente, não, non, parzialmente,
  niet, gedeeltelijk, nie, częściowo, 未, 未完, 部分, 一部, 待`);

const TIMES = `
  created, updated, modified, edited, date, dates, time, timestamp, due, deadline, at, started, since, day, month, year, duration, age
  Datum, Zeit, Zeitpunkt, Uhrzeit, Zeitstempel, erstellt, erstellungsdatum, geändert, aktualisiert, Änderungsdatum, Fälligkeit, fällig, am
  créé, créée, création, modifié, modification, mise, jour, horodateur, échéance, heure, fecha, creado, creada, creación, actualizado,
  modificado, hora, marca temporal, vencimiento, criado, criada, criação, atualizado, carimbo, prazo
  creato, creata, creazione, aggiornato, scadenza, informazioni cronologiche, ora, aangemaakt, bijgewerkt, tijd, tijdstempel, gewijzigd
  utworzono, utworzenia, zaktualizowano, czas, termin, sygnatura, znacznik
  日時, 日付, 作成日, 更新日, 期日, 期限, タイムスタンプ, 时间, 日期, 创建时间, 更新时间, 時間, 截止`;
export const TIME = vocabulary(TIMES);

export const VOTES = vocabulary(`
  vote, votes, upvotes, upvote, score, likes, like, points, Stimmen, Bewertung, Punkte, voix, puntos, votos, puntuación, pontos, pontuação
  voti, punteggio, stemmen, głosy, 投票, 投票数, 票数, 得票, いいね, 点数, 赞, 点赞, 投票数`);
/** What counts or measures something else. */
export const COUNT = vocabulary(`
  count, number, total, mrr, arr, revenue, impact, estimate, rank, rating, nps, amount, effort, Anzahl, Nummer, Nr, Schätzung, Umsatz
  nombre, numéro, número, cantidad, quantidade, numero, aantal, nummer, liczba, numer, 件数, 数, 数量`);

export const TAGS = vocabulary(`
  tag, tags, label, labels, keyword, keywords, Schlagwort, Schlagwörter, Schlagworte, étiquette, étiquettes, etiqueta, etiquetas, etichetta,
  etichette, labels, etykieta, etykiety, タグ, ラベル, 标签, 標籤`);

/** What sorts rows into a few groups. */
export const LABEL = vocabulary(`
  source, origin, channel, type, kind, priority, severity, plan, tier, segment, language, locale, country, region, platform, browser, device,
  version, os, environment, sentiment, medium, campaign, list, team, project, product, component, module, sprint, epic, milestone, group,
  brand, subscribed, read
  Quelle, Herkunft, Kanal, Typ, Art, Priorität, Dringlichkeit, Sprache, Land, Plattform, Gruppe, Produkt, Projekt, Modul
  origine, provenance, canal, priorité, urgence, langue, pays, groupe, produit, projet, fuente, origen, tipo, prioridad, idioma, país, grupo,
  producto, proyecto, fonte, origem, prioridade, projeto, produto, canale, priorità, lingua, paese, gruppo, progetto, prodotto
  bron, kanaal, soort, prioriteit, taal, land, groep, źródło, kanał, typ, rodzaj, priorytet, język, kraj, grupa, projekt, produkt
  ソース, チャネル, 種類, 種別, 優先度, 言語, 来源, 渠道, 类型, 优先级, 语言, 项目, 产品, プロジェクト, 製品, リスト`);

export const LINK = vocabulary(`
  url, urls, uri, link, links, href, website, site, attachment, attachments, image, images, avatar, file, files, screenshot, photo
  Anhang, Anhänge, Bild, Datei, lien, pièce, pièces, fichier, image, enlace, adjunto, adjuntos, archivo, imagen, anexo, anexos, arquivo
  allegato, allegati, collegamento, bijlage, bijlagen, koppeling, załącznik, załączniki, リンク, 添付, 添付ファイル, 画像, 链接, 附件, 图片, 网址`);

/** Words for a person. */
export const PERSON = vocabulary(
  ASKERS,
  `person, persons, people, voter, voters, participant, participants, attendee, interviewee, interviewees, lead, leads, subscriber, agent,
  agents, manager, managers, guest, guests, patient, patients, student, students, who, by, from, assignee, assignees, assigned, owner,
  owners, member, members, employee, employees, teammate, teammates, staff, rep, representative, admin, approver, reviewer, login, nick,
  nickname, username, usernames, follower, followers, collaborator, collaborators, watcher, watchers, responsible
  Person, Personen, Leute, Verfasser, Verfasserin, Antragsteller, Befragte, Befragter, Befragten, Wähler, Einsenderin, Besitzer, Mitglied,
  Mitglieder, Mitarbeiter, Mitarbeiterin, Teilnehmer, Teilnehmerin, Ansprechpartner, Ansprechpartnerin, Bearbeiter, Bearbeiterin,
  Zugewiesen, Zuständig, Verantwortlich, Patienten, Schüler, wer
  personne, personnes, répondant, répondante, rapporteur, expéditeur, propriétaire, membre, membres, employé, responsable, assigné, qui
  persona, personas, encuestado, encuestada, encuestados, remitente, propietario, miembro, miembros, empleado, asignado, votante, quien
  pessoa, pessoas, entrevistado, respondente, respondentes, remetente, responsável, membro, membros, funcionário, atribuído, quem
  persona, persone, assegnatario, proprietario, responsabile, membro, partecipante, dipendente, chi
  persoon, personen, eigenaar, toegewezen, medewerker, lid, leden, deelnemer, wie, verantwoordelijke
  osoba, osoby, właściciel, przypisany, przypisano, pracownik, uczestnik, kto, odpowiedzialny
  作成者, 投稿者, 担当者, 顧客, ユーザー, 依頼者, 報告者, 氏名, 名前, 回答者, 所有者, 担当
  作者, 用户, 客户, 负责人, 提交人, 姓名, 经办人, 报告人, 创建人, 联系人, 受访者, 处理人`,
);
/** A word for a name: the last letters of "Username" and "Kundenname" say it. */
export const NAME_WORD =
  /^([a-z]*names?|namen|noms?|nombres?|nomes?|nomi|[a-z]*naam|imi[eę]|nazwa|nazwisko|initials|名前|名字)$/;
/** Matches the whole header only: "Last edited time" is no name. */
export const NAME_PART = vocabulary(`
  first, last, given, family, first name, last name, given name, family name, middle name, surname, Vorname, Nachname, Zuname, prénom, prénoms
  apellido, apellidos, sobrenome, sobrenomes, cognome, voornaam, achternaam, imię, nazwisko, 姓, 名`);

export const WORK = vocabulary(`
  company, companies, organization, organizations, organisation, organisations, employer, department, job, position, role, job title
  Firma, Unternehmen, Arbeitgeber, Abteilung, Rolle, entreprise, société, empresa, azienda, società, bedrijf, organisatie, przedsiębiorstwo
  会社, 会社名, 企業, 公司, 企业, 部门`);
export const CONTACT = vocabulary(`
  phone, phones, phone number, Telefon, Telefonnummer, telephone, téléphone, teléfono, telefone, telefono, telefoon, mobile, Handy, fax
  address, addresses, Adresse, dirección, endereço, indirizzo, adres, street, Straße, rue, calle, rua, city, Stadt, ville, ciudad, cidade, città,
  zip, plz, postcode, birthday, birthdate, Geburtstag, Geburtsdatum, naissance, nacimiento, nascimento, dob, gender, Geschlecht, sexe, sexo,
  salary, Gehalt, salaire, salario, iban, bic, ssn, salutation, Anrede, civilité, tratamiento, tratamento, linkedin, twitter, ip
  電話, 電話番号, 住所, 电话, 手机, 地址`);
/** Who may read a row, in a few words: "Yes", "Visible to creator". */
export const VISIBILITY = vocabulary(`
  confidential, is confidential, private, is private, visibility, vertraulich, privat, Sichtbarkeit, confidentiel, confidentialité, privé
  visibilité, confidencial, privado, visibilidad, visibilidade, riservato, privato, visibilità, vertrouwelijk, privé, zichtbaarheid, poufne
  prywatne, widoczność, 非公開, 公開範囲, 私密, 可见性`);
/** Internal text, by any author. */
export const INTERNAL = vocabulary(`
  internal, private, confidential, staff, admin, team, crm, hidden, secret, intern, interne, interner, internes, internen, privat, private,
  privater, vertraulich, privé, privée, confidentiel, interno, interna, internos, internas, privado, privada, riservato, privato, privata
  intern, vertrouwelijk, wewnętrzne, wewnętrzny, prywatne, 社内, 内部, 非公開`);
export const NOTES = vocabulary(`
  note, notes, remark, remarks, memo, memos, Notiz, Notizen, Anmerkung, Anmerkungen, Bemerkung, Bemerkungen, Vermerk, Vermerke
  remarque, remarques, nota, notas, observación, observaciones, observação, observações, observations, note, appunti, notitie, notities
  notatka, notatki, メモ, 備考, 备注, 備註`);

export const SALUTATION = vocabulary(`
  mr, mrs, ms, miss, mx, dr, dra, prof, profa, professor, sir, madam, phd, md, mba, Herr, Frau, hr, fr, dipl, ing, mag
  m, mme, mlle, monsieur, madame, sr, sra, srta, don, doña, señor, señora, senhor, senhora, sig, signor, signora, dhr, mevr, pan, pani`);
export const JOB = vocabulary(`
  ceo, cto, cfo, coo, cmo, cio, cpo, vp, svp, president, chief, officer, manager, managers, director, directora, head, lead, cofounder, founder,
  owner, partner, engineer, developer, designer, analyst, consultant, architect, administrator, assistant, specialist, coordinator, executive,
  representative, accountant, teacher, student, nurse, buyer, clerk, freelancer, intern
  Leiter, Leiterin, Geschäftsführer, Geschäftsführerin, Entwickler, Entwicklerin, Berater, Beraterin, Inhaber, Referent, Vertrieb, Sachbearbeiter
  directeur, directrice, responsable, ingénieur, gérant, chef, développeur, gerente, jefe, jefa, ingeniero, ingeniera, desarrollador
  diretor, diretora, engenheiro, gestor, gestora, desenvolvedor, direttore, direttrice, ingegnere, sviluppatore, kierownik, dyrektor`);
