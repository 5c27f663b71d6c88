/**
 * What people of ten languages write and search for, with the posts that they mean. Written for this bench: posts that ask for the same
 * in other words, and questions as they are typed, in other forms, without accents, with slips of the keyboard and pasted whole.
 */
export interface Labelled {
  language: string;
  /** Title and text. */
  posts: [title: string, content: string][];
  /** A question, and the places of the posts that answer it, from 1. */
  questions: [text: string, relevant: number[]][];
}

function labelled(language: string, posts: string, questions: string): Labelled {
  const lines = (text: string): string[] => text.trim().split('\n');
  return {
    language,
    posts: lines(posts).map((line) => line.split(' | ') as [string, string]),
    questions: lines(questions).map((line) => {
      const [text = '', places = ''] = line.split(' = ');
      return [text, places.split(' ').map(Number)];
    }),
  };
}

export const LABELLED: readonly Labelled[] = [
  labelled(
    'English',
    `
Export all companies to a spreadsheet | We need the list of every company with its 1,000 contacts.
E-mail notifications arrive twice | Each message is sent two times to our customers.
Dark mode for the mobile app | The white background hurts at night.
Filter by category and date | Categories are hard to find in a long list.
Sign-in fails with single sign-on | Users see an error after they were redirected.
Attach files to boxes on the board | Uploading images to a box takes several clicks.
The search doesn't find comments | Only titles are searched.
Planned downtime should be announced | Nobody was told that the service stopped.`,
    `
company = 1
companies = 1
exporting a company = 1
1000 contacts = 1
email = 2
e-mails = 2
notification = 2
emails sent twice = 2
dark mode = 3
darkmode = 3
backgrounds = 3
categories = 4
category filters = 4
dates = 4
signin = 5
single sign on error = 5
redirect = 5
box = 6
upload image = 6
attaching files = 6
dosnt find comments = 7
searching titles = 7
planning downtime = 8
service stopping = 8
Hello, our customers get every e-mail notification two times since Monday = 2
I would like to upload several images to a box with one click = 6
notifcation = 2
catgory = 4`,
  ),
  labelled(
    'German',
    `
Rechnungen als PDF exportieren | Wir brauchen jede Rechnung für die Buchhaltung.
Dunkler Modus für die App | Der weiße Hintergrund blendet in der Nacht.
Größe der Bilder ändern | Große Fotos laden auf der Straße zu langsam.
Suche findet Umlaute nicht | Wer nach Müller sucht, findet nichts.
E-Mail-Benachrichtigungen abschalten | Zu viele Nachrichten am Wochenende.
Passwort zurücksetzen schlägt fehl | Der Link ist nach einer Stunde ungültig.
Kalender mit Feiertagen | Termine fallen auf freie Tage.
Mehrere Konten zusammenführen | Ein Kunde hat drei Konten.`,
    `
Rechnung = 1
rechnungen pdf = 1
Buchhaltung = 1
dunkler modus = 2
weisser hintergrund = 2
weißer Hintergrund = 2
grosse = 3
Größe = 3
strasse = 3
bilder = 3
umlaute = 4
muller = 4
Müller = 4
email = 5
E-Mail = 5
benachrichtigungen = 5
passwort = 6
zurucksetzen = 6
ungultig = 6
feiertage = 7
kalender = 7
konten = 8
konten zusammenfuhren = 8
Guten Tag, wenn ich mein Passwort zurücksetzen will, ist der Link ungültig = 6
kalendar = 7`,
  ),
  labelled(
    'French',
    `
Exporter les données en CSV | Nous voulons récupérer toutes les entreprises.
Thème sombre | L’écran blanc fatigue les yeux.
Notifications par e-mail en double | Chaque message est envoyé deux fois.
Améliorer la recherche | Elle ne trouve pas les mots accentués.
Gérer les rôles d’équipe | Un administrateur ne peut pas créer de rôle.
Paiement refusé sans raison | La carte est acceptée ailleurs.
Le cœur du problème : lenteur | Le tableau de bord met une minute à s’ouvrir.
Traduire l’aide en français | Les élèves ne comprennent pas l’anglais.`,
    `
donnees = 1
données csv = 1
exporter = 1
entreprises = 1
theme sombre = 2
ecran = 2
écran blanc = 2
email = 3
notifications = 3
e-mail en double = 3
recherche = 4
ameliorer = 4
mots accentues = 4
role = 5
equipe = 5
rôles = 5
administrateur = 5
paiement refuse = 6
carte = 6
coeur = 7
lenteur tableau de bord = 7
francais = 8
traduire = 8
eleves = 8
Bonjour, mon paiement a été refusé alors que la carte marche ailleurs = 6`,
  ),
  labelled(
    'Spanish',
    `
Exportar clientes a Excel | Cada cliente tiene varias direcciones.
Modo oscuro | La pantalla brilla demasiado por la noche.
Notificación de cambios | Quiero saber cuándo cambia el estado.
Búsqueda por número de teléfono | El año pasado funcionaba.
Añadir campos personalizados | Necesitamos una opción por categoría.
Sesión caducada muy pronto | Hay que iniciar sesión cada hora.
Informe mensual de votos | Con gráficos por tablero.
Adjuntar imágenes al comentario | Sólo se puede pegar texto.`,
    `
clientes = 1
cliente = 1
exportar = 1
direcciones = 1
modo oscuro = 2
pantalla = 2
notificacion = 3
notificación = 3
estado = 3
busqueda = 4
telefono = 4
numero = 4
ano = 4
anadir campos = 5
opcion categoria = 5
sesion = 6
sesión caducada = 6
informe = 7
graficos = 7
votos mensual = 7
imagenes = 8
adjuntar = 8
comentario solo texto = 8
Hola, quisiera recibir una notificación cuando cambia el estado de mi idea = 3`,
  ),
  labelled(
    'Russian',
    `
Тёмная тема | Белый фон режет глаза ночью.
Экспорт отчётов в Excel | Каждый отчёт приходится копировать.
Уведомления приходят дважды | Письма по электронной почте дублируются.
Поиск не находит букву ё | Ёлка и елка это одно слово.
Мой профиль не сохраняется | После обновления имя пропадает.
Календарь для команды | Общие встречи и отпуска.
Загрузка файлов | Большие файлы не загружаются.
Оплата картой | Платёж отклонён без причины.`,
    `
темная тема = 1
тёмная = 1
фон = 1
отчетов = 2
отчёт = 2
экспорт excel = 2
уведомления = 3
почте = 3
дважды = 3
елка = 4
ёлка = 4
букву е = 4
мой профиль = 5
имя пропадает = 5
календарь = 6
встречи = 6
отпуска = 6
файлов = 7
загрузка = 7
платеж = 8
платёж отклонен = 8
оплата = 8
Здравствуйте, мне письма по электронной почте приходят дважды = 3
календрь = 6`,
  ),
  labelled(
    'Vietnamese',
    `
Đăng nhập bằng Google | Không thể đăng nhập từ điện thoại.
Chế độ tối | Màn hình trắng chói mắt vào ban đêm.
Xuất dữ liệu ra Excel | Cần danh sách khách hàng đầy đủ.
Thông báo qua email | Tôi nhận được hai lần.
Tìm kiếm không dấu | Gõ không dấu thì không ra kết quả.
Đổi mật khẩu | Liên kết hết hạn quá nhanh.
Đường dẫn bị lỗi | Trang không tồn tại.
Bảng màu mới | Màu sắc khó nhìn.`,
    `
dang nhap = 1
đăng nhập = 1
dien thoai = 1
google = 1
che do toi = 2
chế độ tối = 2
man hinh trang = 2
xuat du lieu = 3
dữ liệu = 3
khach hang = 3
thong bao = 4
thông báo email = 4
tim kiem = 5
khong dau = 5
kết quả = 5
mat khau = 6
đổi mật khẩu = 6
lien ket = 6
duong dan = 7
đường = 7
bang mau = 8
màu sắc = 8
Xin chào, tôi không thể đăng nhập bằng điện thoại = 1`,
  ),
  labelled(
    'Chinese',
    `
希望能导出数据到Excel | 每个月都要把客户列表发给财务。
夜间模式 | 白色背景晚上太刺眼。
邮件通知重复发送 | 同一封邮件收到两次。
搜索功能不好用 | 找不到评论里的内容。
手机应用经常崩溃 | 打开图片就闪退。
增加日历视图 | 方便团队安排会议。
无法重置密码 | 链接很快就失效。
支持批量上传文件 | 一个一个上传太慢。`,
    `
导出 = 1
导出数据 = 1
数据导出 = 1
客户列表 = 1
财务 = 1
excel = 1
夜间模式 = 2
背景 = 2
邮件 = 3
邮件通知 = 3
重复 = 3
搜索 = 4
评论 = 4
崩溃 = 5
手机 = 5
图片闪退 = 5
日历 = 6
会议 = 6
团队 = 6
密码 = 7
重置密码 = 7
上传 = 8
批量上传 = 8
文件 = 8
我想把客户数据导出到表格里 = 1`,
  ),
  labelled(
    'Japanese',
    `
データをエクスポートできない | 毎月の顧客リストを経理に送ります。
ダークモードが欲しい | 夜は白い画面がまぶしいです。
通知メールが二回届く | 同じメッセージが重複します。
検索でコメントが見つからない | タイトルだけが対象です。
アプリがよく落ちる | 画像を開くと強制終了します。
カレンダー表示を追加 | 会議の予定を共有したい。
パスワードを再設定できない | リンクの有効期限が短すぎます。
ファイルの一括アップロード | ひとつずつは時間がかかります。`,
    `
エクスポート = 1
データ = 1
顧客リスト = 1
経理 = 1
ダークモード = 2
画面 = 2
夜 = 2
通知 = 3
メール = 3
通知メール = 3
検索 = 4
コメント = 4
タイトル = 4
アプリ = 5
画像 = 5
カレンダー = 6
会議 = 6
予定 = 6
パスワード = 7
再設定 = 7
有効期限 = 7
アップロード = 8
ファイル = 8
ｶﾚﾝﾀﾞｰ = 6
データのエクスポートがしたい = 1`,
  ),
  labelled(
    'Korean',
    `
데이터를 엑셀로 내보내기 | 매달 고객 목록을 회계팀에 보냅니다.
다크 모드 지원 | 밤에는 흰 화면이 눈부십니다.
알림 메일이 두 번 옵니다 | 같은 메시지가 중복됩니다.
검색이 댓글을 찾지 못합니다 | 제목만 검색됩니다.
앱이 자주 종료됩니다 | 사진을 열면 멈춥니다.
달력 보기 추가 | 회의 일정을 공유하고 싶습니다.
비밀번호를 재설정할 수 없습니다 | 링크가 너무 빨리 만료됩니다.
파일을 한꺼번에 업로드 | 하나씩 올리면 오래 걸립니다.`,
    `
데이터 = 1
엑셀 = 1
고객 목록 = 1
회계팀 = 1
다크 모드 = 2
화면 = 2
화면을 = 2
알림 = 3
메일 = 3
알림 메일 = 3
메시지를 = 3
검색 = 4
댓글 = 4
댓글이 = 4
앱 = 5
사진 = 5
사진이 = 5
달력 = 6
회의 = 6
일정을 = 6
비밀번호 = 7
재설정 = 7
링크 = 7
업로드 = 8
파일 = 8`,
  ),
  labelled(
    'Thai',
    `
ส่งออกข้อมูลเป็นไฟล์ Excel | ต้องส่งรายชื่อลูกค้าให้ฝ่ายบัญชีทุกเดือน
โหมดมืด | หน้าจอสีขาวแสบตาตอนกลางคืน
อีเมลแจ้งเตือนซ้ำ | ได้รับข้อความเดียวกันสองครั้ง
การค้นหาไม่พบความคิดเห็น | ค้นหาได้เฉพาะชื่อเรื่อง
แอปปิดตัวเองบ่อย | เปิดรูปภาพแล้วค้าง
เพิ่มปฏิทิน | ต้องการแชร์นัดประชุมกับทีม
รีเซ็ตรหัสผ่านไม่ได้ | ลิงก์หมดอายุเร็วเกินไป
อัปโหลดหลายไฟล์พร้อมกัน | ทีละไฟล์ช้ามาก`,
    `
ข้อมูล = 1
ส่งออกข้อมูล = 1
ลูกค้า = 1
บัญชี = 1
excel = 1
โหมดมืด = 2
หน้าจอ = 2
กลางคืน = 2
อีเมล = 3
แจ้งเตือน = 3
ข้อความ = 3
ค้นหา = 4
ความคิดเห็น = 4
แอป = 5
รูปภาพ = 5
ปฏิทิน = 6
ประชุม = 6
ทีม = 6
รหัสผ่าน = 7
ลิงก์ = 7
หมดอายุ = 7
อัปโหลด = 8
ไฟล์ = 1 8`,
  ),
];
