/**
 * Two customers who ask for the same thing without knowing of each other, in ten languages. Written for this bench, before anything was
 * measured with it, and not changed afterwards: some pairs share most of their words, some one of them, and some none, as people do.
 */
export interface Pairs {
  language: string;
  pairs: [one: Written, other: Written][];
}

export type Written = [title: string, content: string];

/** One line a post; two lines are a pair. */
export function linePairs(text: string): [one: Written, other: Written][] {
  const posts = text
    .trim()
    .split('\n')
    .map((line) => line.split(' | ') as Written);
  return posts.flatMap((one, at) =>
    at % 2 === 0 ? [[one, posts[at + 1] ?? one] as [Written, Written]] : [],
  );
}

function pairs(language: string, text: string): Pairs {
  return { language, pairs: linePairs(text) };
}

export const PAIRS: readonly Pairs[] = [
  pairs(
    'English',
    `
Dark mode | The white background is blinding when I work late in the evening.
Please give us a night theme | My eyes hurt after dark, everything is bright white. A darker colour scheme would be lovely.
Two-factor authentication | We are not allowed to use tools that only ask for a password. Support for TOTP apps would be enough.
Support for authenticator apps at login | Our security team wants a second factor, for example Google Authenticator.
Log in with Okta | Our company manages all accounts in Okta and wants SAML.
SSO via SAML | We use Azure AD. People should not need another password, IT wants single sign-on.
Export invoices as PDF | Our bookkeeper needs every invoice as a file at the end of the month.
Download all bills at once | I have to click each invoice and save the PDF by hand for accounting.
Search does not find text in comments | I know somebody wrote about it in a comment but the search only looks at titles.
Let me search inside comments too | Half of the knowledge is in the discussion below a post and cannot be found.
Slack integration | Post a message to a channel when something new arrives.
Notify our Slack channel about new posts | We live in Slack and never see new feedback until days later.
Too many e-mail notifications | I get thirty mails a day. Send me one summary instead.
A daily digest instead of single emails | My inbox drowns in notifications. One mail in the morning would be plenty.
Undo after deleting | I deleted the wrong entry and there is no way back.
Recycle bin for removed entries | Yesterday a colleague accidentally removed a record and we could not restore it.
App is very slow with many records | With about 20,000 records the list takes ten seconds to load.
Performance of large lists | Opening a list of several thousand rows freezes the browser for a while.
Offline mode for the phone | There is no reception in our warehouse, so the app shows nothing.
The mobile app needs to work without internet | Our technicians are in basements with no connection and cannot see their tasks.
Recurring tasks | Every Monday I create the same task by hand.
Repeat a task every week or month | Let me set an interval so that the next one is created automatically.
Custom fields | We need to store a customer number and a region with each contact.
Allow additional fields on contacts | There is no place for our own data such as VAT number or sales region.
Import from Excel | We have 3,000 contacts in a spreadsheet. Typing them in is not an option.
Bulk upload of contacts | It should be possible to upload a CSV or xlsx file with all our customers.
Calendar sync with Outlook | Appointments should show up in my Outlook calendar.
Show my appointments in Microsoft 365 | I keep two calendars now and copy every meeting by hand.
Drag and drop to reorder items | Moving an item up means changing its number.
Change the order with the mouse | I would like to grab a row and pull it to another position in the list.
Keyboard shortcuts | Power users do not want to reach for the mouse all the time.
Hotkeys for the most used actions | Pressing a key to create or close a ticket would save me hours.
Attach files to comments | I want to answer with a screenshot.
Pasting images into a reply does not work | When I paste a screenshot from the clipboard into a comment nothing happens.
Roles and permissions | Interns should be able to read but not to change anything.
Read-only users | We would like to invite our auditors without giving them the right to edit.
API rate limit too low | Our nightly job gets 429 after a few minutes.
Raise the number of API requests per minute | We are throttled all the time when we synchronise with our warehouse system.
Webhooks when a status changes | Polling the API every minute is wasteful.
Send an HTTP callback on updates | Our system should be told when an item moves to done instead of asking again and again.
Filter by date range | I only want to see what was created last quarter.
Choose from-to dates in the overview | The list can only show the last 7 or 30 days, not a custom period.
Merge duplicate contacts | The same customer exists three times with different spellings.
Combine two customer records into one | After an import we have many doubles and no tool to clean up.
Time zone is wrong | Meetings are shown one hour early since we moved to Lisbon.
All times are displayed in UTC | I am in New York and every timestamp is off by some hours. Let me set my own zone.
Print view | I want to hang the plan on the wall of the workshop.
Printing cuts off the right half of the table | When I print the page on A4, columns are missing.
Assign a task to several people | Often two of us are responsible.
Multiple assignees | We work in pairs, but only one person can own a ticket.
Password reset mail never arrives | I tried four times and checked the spam folder.
I do not receive the link to set a new password | Clicked on forgot password, no message came, also not in junk.
Show who has read the announcement | I need proof that everybody has seen the new safety rules.
Read receipts | Is there a way to know which colleagues opened the message?
Subtasks | Big jobs should be broken down into smaller steps.
Checklists inside a card | I want to tick off the small steps of a job without creating a card for each.
Change the language of the interface | Our staff in Poland does not speak English.
Please translate the app into Polish | My workers cannot read the English buttons.
Customer portal with our own logo | The page our clients see should look like us, with our colours.
White labelling | We are an agency and want to put our brand and domain on it.
Charge by usage, not by seat | Most of our people only log in once a month, paying for each is too expensive.
Cheaper price for occasional users | Forty employees look at it twice a year. A full licence for each of them is unreasonable.
Save filters as a view | Each morning I set the same five filters again.
Remember my last filter settings | When I come back to the list everything is reset and I must select board and status again.
Gantt chart | We need to see how tasks depend on each other over time.
Timeline with dependencies between tasks | If one job slips, I want to see which others move.
Burndown report | Show how much work is left in the sprint.
Chart of the remaining work per sprint | At the end of each sprint we draw this by hand for the stakeholders.
Autosave drafts | I wrote for half an hour and lost everything when the session expired.
Text is gone after being logged out | The form should keep what I typed when the login times out.
Mention colleagues with @ | It should send them a note when I write their name.
Tag a person in a comment so that they get notified | Nobody notices my questions unless I also write them an email.
Approve expenses on the phone | As a manager I travel a lot and cannot open a laptop for each receipt.
Mobile approval | I want to accept or reject requests of my team from my iPhone.
Barcode scanner | Typing the article numbers takes forever.
Scan QR codes with the camera to find an item | Our stock has labels. Pointing the phone at one should open the article.
Show prices including VAT | Our customers are private persons and only understand gross prices.
Gross amounts in quotes | Net prices confuse consumers, tax should be included in what they see.
Cannot cancel my subscription | There is no button anywhere on the billing page.
How do I end my plan? | I looked through all of the settings and did not find a way to stop paying.
Multiple currencies | We sell in euros and dollars.
Quotes in USD for American clients | Everything is in EUR at the moment and I have to convert by hand.
Copy an existing project | All our projects start with the same forty steps.
Project templates | Starting from scratch each time is tedious, let me use an old one as a blueprint.
Zapier connector | We would like to connect with our other tools without programming.
Integrate with Make or Zapier | No-code automation would help since we have no developers.
Video upload fails | Files over 100 MB stop at 99 percent.
Large movies cannot be attached | The progress bar hangs shortly before the end with a clip of 300 MB.
Accessibility for screen readers | Buttons are announced as just "button". Our blind colleague cannot use the app.
ARIA labels are missing | NVDA does not read the icons, which makes the page unusable for visually impaired people.
Colour blind friendly status labels | Red and green look the same to me.
I cannot tell the statuses apart | As someone with deuteranopia the dots all look brownish. Use symbols as well.
Sort by number of votes | The most wanted ideas should be on top.
Order the list by popularity | Let us see the requests with most support first.
Anonymous feedback | Employees are afraid to say what they think under their name.
Let people post without showing who they are | Nobody dares to complain if the boss can see the author.
Correct a typo in my own comment | Once it is sent there is no edit button.
Edit a comment after posting | There is a typo in what I wrote, and it cannot be corrected.
Show weekends in the planner | We run shifts on Saturday and Sunday.
Roster has no Saturday | Our shop is open six days, the schedule ends on Friday.
Automatic backup to our own server | We are required to keep a copy of the data in house.
Scheduled export of all data | For compliance we need a full dump every night on our storage.
Limit work in progress per column | A column should turn red when it holds more than five cards.
WIP limits on the kanban board | Our team takes on too much at the same time.
Signature on the tablet | The customer should confirm the delivery by signing on the screen.
Let clients sign off a job with their finger | We still carry paper forms only for this.
Reminder before a deadline | I forget due dates.
Notify me one day ahead of the due date | Twice I missed a deadline because nothing warned me.
GPS position of the vans | Dispatch calls the drivers all day to ask where they are.
See on a map where our drivers are | A live map would tell us who is closest to the next client.
Formula columns | Total should be quantity times price.
Calculated fields | I want a field that multiplies two other numbers automatically.
Export the audit log | The auditors ask who changed what and when.
History of changes for compliance | We must be able to show every modification with the person and the time.
Map view of all locations | Addresses in a table do not tell me which customers live close together.
Plot our clients on a map | For planning tours I would like to see pins instead of a list of streets.
Fields disappear when I resize the window | On a small laptop the price column is just gone.
Layout breaks on small screens | At 1280 pixels some columns are hidden and cannot be scrolled to.
Session expires too quickly | I am thrown out after ten minutes of a phone call.
Stay signed in | Having to type the password again several times a day is annoying.
Attach emails to a deal | What the customer wrote should be found with the deal and not in my mailbox.
Forward messages into the CRM | A special address that files the mail under the right opportunity would help.
Bulk edit | Changing the owner of 200 tickets one by one took me a whole afternoon.
Select many rows and change them together | When someone leaves the company all of their items must get a new owner.
Emoji reactions | A thumbs up is enough as an answer.
Like a comment | Instead of writing "thanks" or "agreed" I want to react with one click.
Archive finished projects | The list of projects is full of old stuff.
Hide projects that are done | Completed work from years ago clutters the menu.
Sandbox environment | We want to try changes without touching real data.
A test system for developers | Every experiment with the API currently ends up in production.
Custom domain for the help center | Our customers should reach it at help.ourcompany.com.
Use our own URL | The address with your name in it confuses visitors of our knowledge base.
Show time spent per customer | I want to know which clients cost us the most hours.
Hours by client report | At the end of the month I add up the timesheets in a spreadsheet to see whom to charge.
Stock level warning | We ran out of screws without noticing.
Alert when inventory is low | Tell the purchaser when fewer than a given number of an article are left.
Split payment | Customers want to pay half now and half on delivery.
Deposit and final invoice | We always take 50 percent in advance, which the billing does not support.
Chat with support inside the app | Writing an email and waiting for a day is too slow.
Live help | When something breaks during a sale I need an answer in minutes.
Comments are in the wrong order | The newest should be at the top.
Reverse the order of the discussion | I always scroll down to the end to read the latest answer.
Fonts too small | I am 62 and can hardly read the table.
Adjustable text size | Older colleagues have trouble reading. Zooming in the browser destroys the page.
Guest access for suppliers | They should see the orders that concern them and nothing else.
Invite external partners to a single project | Freelancers must not see our other work.
Crash when opening the camera | On my Pixel 8 the app closes as soon as I tap on take photo.
App quits when I want to take a picture | Android 15, happens every time since the last update.
Duplicate notifications | Each push message arrives twice on my phone.
I get every alert two times | Since Tuesday all push notifications are doubled.`,
  ),
  pairs(
    'German',
    `
Rechnungen als PDF herunterladen | Für die Steuer brauche ich alle Belege als Datei.
Alle Belege auf einmal exportieren | Der Steuerberater will jeden Monat sämtliche Rechnungen, ich lade sie einzeln herunter.
Dunkles Design | Abends blendet die weiße Oberfläche.
Nachtmodus wäre schön | Ich arbeite oft spät und der helle Hintergrund ist unangenehm.
Anmeldung mit zwei Faktoren | Ein Passwort allein genügt unserer IT nicht.
Zwei-Faktor-Authentifizierung fehlt | Unsere Sicherheitsrichtlinie verlangt einen zweiten Faktor.
Kalender mit Outlook abgleichen | Termine pflege ich im Moment doppelt.
Termine in Outlook anzeigen | Alle Besprechungen trage ich von Hand ein zweites Mal ein.
App ohne Internet nutzen | Auf der Baustelle gibt es kein Netz.
Offline arbeiten | Unsere Monteure sind oft im Keller und haben keinen Empfang.
Mehrere Bearbeiter für eine Aufgabe | Wir arbeiten immer zu zweit.
Aufgabe zwei Personen zuweisen | Meist sind zwei Kollegen zuständig, es lässt sich aber nur einer eintragen.
Zu viele E-Mails | Jede kleine Änderung löst eine Nachricht aus.
Benachrichtigungen zusammenfassen | Eine einzige E-Mail am Abend würde mir reichen.
Vorlagen für Angebote | Ich schreibe immer wieder denselben Text.
Textbausteine in Angeboten | Wiederkehrende Absätze möchte ich aus einer Liste einfügen.
Kunden doppelt angelegt | Nach dem Import gibt es viele Kunden zweimal.
Dubletten zusammenführen | Derselbe Kunde steht mit drei Schreibweisen in der Liste.
Passwort vergessen funktioniert nicht | Es kommt keine E-Mail an.
Kein Link zum Zurücksetzen des Passworts | Auch im Spam-Ordner ist nichts zu finden.
Zeiterfassung mit Stoppuhr | Ich möchte auf Start drücken, wenn ich beginne.
Arbeitszeit per Knopfdruck erfassen | Stunden nachträglich einzutragen ist ungenau.
Preise mit Mehrwertsteuer anzeigen | Privatkunden verstehen Nettopreise nicht.
Bruttopreise im Angebot | Endverbraucher wollen sehen, was sie wirklich zahlen.
Reihenfolge mit der Maus ändern | Ziehen und Ablegen wäre einfacher als Nummern.
Einträge verschieben per Drag-and-drop | Um etwas nach oben zu bringen, muss ich die Nummer ändern.
Unterschrift auf dem Tablet | Der Kunde soll die Lieferung auf dem Bildschirm bestätigen.
Kunden digital unterschreiben lassen | Nur dafür nehmen wir noch Papier mit.
Liste lädt sehr langsam | Bei 10.000 Artikeln dauert es eine Minute.
Leistung bei vielen Artikeln | Der Browser friert ein, wenn ich den ganzen Bestand öffne.
Erinnerung vor Fristende | Ich habe schon zweimal etwas verpasst.
Vor Ablauf eines Termins warnen | Fällige Aufgaben gehen unter, eine Nachricht am Tag davor würde helfen.`,
  ),
  pairs(
    'French',
    `
Exporter les factures en PDF | Mon comptable demande tous les documents à la fin du mois.
Télécharger toutes les factures d’un coup | Je dois les enregistrer une par une pour la comptabilité.
Mode sombre | Le fond blanc fatigue les yeux le soir.
Un thème foncé pour la nuit | L’écran est beaucoup trop lumineux quand je travaille tard.
Application mobile hors ligne | Il n’y a pas de réseau dans nos entrepôts.
Travailler sans connexion internet | Nos techniciens sont souvent en sous-sol, sans réseau.
Trop de courriels | Je reçois une notification pour chaque modification.
Résumé quotidien des notifications | Un seul message par jour suffirait largement.
Fusionner les doublons | Le même client existe trois fois.
Clients en double après l’import | Il faudrait pouvoir réunir deux fiches en une seule.
Connexion avec Google | Nous ne voulons pas d’un mot de passe de plus.
Authentification unique (SSO) | Nos employés ont déjà un compte Google d’entreprise.
Tâches récurrentes | Chaque lundi je crée la même tâche.
Répéter une tâche toutes les semaines | La suivante devrait être créée automatiquement.
Joindre une capture d’écran à un commentaire | Une image vaut mieux qu’un long discours.
Coller une image dans une réponse | Quand je colle une capture, rien ne se passe.
Filtrer par période | Je voudrais voir seulement le trimestre dernier.
Choisir les dates de début et de fin | La liste ne propose que les 30 derniers jours.
Signature du client sur tablette | Nous imprimons encore le bon de livraison pour cela.
Faire signer le bon de livraison à l’écran | Le papier se perd et il faut tout numériser.
Facturer en dollars | Nos clients américains refusent les euros.
Plusieurs devises | Je convertis chaque devis à la main.
Impossible de résilier mon abonnement | Aucun bouton dans la page de facturation.
Où arrêter le paiement ? | J’ai cherché partout dans les réglages sans trouver.`,
  ),
  pairs(
    'Spanish',
    `
Exportar facturas en PDF | El contable las pide cada mes.
Descargar todas las facturas a la vez | Ahora tengo que guardar cada factura una por una para contabilidad.
Modo oscuro | La pantalla blanca cansa la vista por la noche.
Tema nocturno, por favor | Trabajo hasta tarde y hay demasiado brillo.
Usar la aplicación sin conexión | En el almacén no hay cobertura.
Modo sin internet para el móvil | Los técnicos trabajan en sótanos sin cobertura y no ven sus tareas.
Importar contactos desde Excel | Tenemos tres mil clientes en una hoja de cálculo.
Subir clientes en bloque | Queremos cargar un archivo CSV con todos los contactos.
Demasiados correos | Cada cambio me manda un aviso.
Resumen diario de avisos | Con un solo correo al día tendría bastante.
No llega el correo para cambiar la contraseña | Lo intenté varias veces.
Olvidé mi contraseña y no recibo el enlace | Tampoco está en la carpeta de spam.
Asignar una tarea a varias personas | Siempre trabajamos en pareja.
Más de un responsable por tarea | Solo puedo poner a un compañero y somos dos.
Ordenar por votos | Lo más pedido debería estar arriba.
Mostrar primero lo más popular | Quiero ver qué ideas tienen más apoyo.
Escanear códigos de barras | Escribir las referencias a mano lleva mucho tiempo.
Leer el código QR con la cámara | Al apuntar a la etiqueta debería abrirse el artículo.
Recordatorio antes del vencimiento | Se me pasan las fechas.
Avisar un día antes de la fecha límite | Ya he perdido dos plazos porque nada me avisó.`,
  ),
  pairs(
    'Portuguese',
    `
Exportar relatórios para Excel | A diretoria pede os números numa planilha.
Baixar o relatório como planilha | Copio os números à mão todo mês.
Modo escuro | A tela branca incomoda à noite.
Tema noturno | Trabalho até tarde e o brilho cansa os olhos.
Aplicativo sem internet | No depósito não há sinal.
Funcionar offline no celular | Os técnicos ficam sem sinal no subsolo.
Notificações no WhatsApp | Ninguém lê e-mail na nossa equipe.
Receber avisos pelo WhatsApp | Seria mais rápido do que por e-mail.
Juntar cadastros duplicados | O mesmo cliente aparece três vezes.
Clientes repetidos | Depois da importação ficaram muitos cadastros em dobro.
Boleto não é gerado | O botão não faz nada.
Erro ao gerar boleto | Clico em gerar e aparece uma página vazia.`,
  ),
  pairs(
    'Italian',
    `
Esportare le fatture in PDF | Il commercialista le vuole ogni mese.
Scaricare tutte le fatture insieme | Devo salvarle una per una per il commercialista.
Tema scuro | Lo sfondo bianco dà fastidio la sera.
Modalità notte | Lavoro fino a tardi e lo schermo è troppo luminoso.
Uso senza connessione | In magazzino non c’è campo.
L’app deve funzionare offline | I tecnici sono spesso in cantina senza campo.
Firma del cliente sul tablet | Stampiamo ancora la bolla solo per la firma.
Far firmare la consegna sullo schermo | La carta si perde continuamente.
Attività ricorrenti | Ogni lunedì creo la stessa attività.
Ripetere un’attività ogni settimana | La prossima dovrebbe nascere da sola.
Calendario condiviso con Google | Gli appuntamenti sono scritti due volte.
Sincronizzare gli appuntamenti con Google Calendar | Copio tutto a mano.`,
  ),
  pairs(
    'Russian',
    `
Тёмная тема | Белый фон режет глаза вечером.
Ночной режим | Работаю допоздна, экран слишком яркий.
Выгрузка отчётов в Excel | Руководство просит цифры в таблице.
Экспорт отчета в таблицу Excel | Каждый месяц переписываю цифры вручную.
Приложение без интернета | На складе нет связи.
Работа офлайн на телефоне | Мастера работают в подвалах, где нет связи.
Слишком много писем | Каждое изменение присылает уведомление.
Объединить уведомления в одно письмо | Хватило бы одного письма в день.
Дубликаты клиентов | Один и тот же клиент записан трижды.
Объединение карточек клиента | После импорта много дубликатов.
Не приходит письмо для сброса пароля | Проверил папку со спамом.
Забыл пароль, ссылка не приходит | В спаме тоже пусто.
Напоминание о сроке | Забываю о важных датах.
Предупреждать за день до срока | Уже дважды пропустил срок, потому что ничего не пришло.`,
  ),
  pairs(
    'Chinese',
    `
希望支持深色模式 | 晚上用白色背景太刺眼。
请增加夜间模式 | 晚上工作时屏幕太亮，眼睛很累。
导出发票为PDF | 会计每个月都要发票文件。
批量下载发票 | 现在只能一张一张下载发票给会计。
没有网络时也能使用 | 仓库里没有信号。
手机端离线功能 | 技术人员在地下室没有信号，看不到任务。
邮件通知太多 | 每次修改都发一封邮件。
通知汇总成每日一封邮件 | 一天收到几十封，看不过来。
合并重复的客户 | 同一个客户出现了三次。
客户资料重复 | 导入以后有很多重复，希望可以合并。
收不到重置密码的邮件 | 垃圾箱里也没有。
忘记密码后没有收到链接 | 试了好几次，邮件一直没来。
按投票数排序 | 最受欢迎的应该排在前面。
把最热门的建议放在前面 | 希望按票数排列。
一个任务分配给多个人 | 我们总是两个人一起做。
任务可以有多个负责人 | 现在只能选一个人。`,
  ),
  pairs(
    'Japanese',
    `
ダークモードが欲しい | 夜は白い背景がまぶしいです。
夜間用の暗いテーマ | 夜遅くまで作業すると画面がまぶしくて目が疲れます。
請求書をPDFで出力したい | 経理が毎月必要としています。
請求書の一括ダウンロード | 一枚ずつ保存するのは大変です。経理に渡します。
オフラインで使いたい | 倉庫には電波がありません。
インターネットなしでも動くアプリ | 地下では電波が届かず、作業内容が見られません。
通知メールが多すぎる | 変更のたびに届きます。
通知を一日一通にまとめてほしい | 毎日三十通もメールが来ます。
重複した顧客を統合 | 同じ顧客が三回登録されています。
顧客データの重複をまとめる | インポートのあと重複が多いです。
パスワード再設定のメールが届かない | 迷惑メールにもありません。
パスワードを忘れたがリンクが来ない | 何度試しても届きません。
担当者を複数設定したい | いつも二人で作業します。
タスクに二人割り当てる | 今は一人しか選べません。`,
  ),
  pairs(
    'Korean',
    `
다크 모드 지원 | 밤에 흰 배경이 너무 눈부셔요.
야간 모드를 추가해 주세요 | 밤늦게 일하면 화면이 너무 밝아요.
청구서를 PDF로 내보내기 | 회계팀이 매달 필요로 합니다.
청구서 한꺼번에 다운로드 | 회계팀에 보내려고 하나씩 저장하고 있어요.
인터넷 없이 사용하기 | 창고에는 신호가 없습니다.
오프라인에서도 앱이 동작하면 좋겠어요 | 지하에서는 신호가 안 잡혀요.
알림 메일이 너무 많아요 | 바뀔 때마다 메일이 옵니다.
알림을 하루에 한 번만 메일로 | 하루에 삼십 통이나 옵니다.
중복된 고객 합치기 | 같은 고객이 세 번 나와요.
고객 정보 중복 | 가져오기 후에 중복이 많아서 합치고 싶습니다.
비밀번호 재설정 메일이 안 와요 | 스팸함에도 없습니다.
비밀번호를 잊었는데 링크가 오지 않습니다 | 여러 번 시도했어요.`,
  ),
];
