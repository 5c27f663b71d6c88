/** A table or view that people ask, with one line on each column. */
export interface TableWords {
  name: string;
  line: string;
  columns: Readonly<Record<string, string>>;
}

function table(name: string, line: string, columns: TableWords['columns']): TableWords {
  return { name, line, columns };
}

const numberOf = (what: string) => ({ id: `the upstream's number of the ${what}` });
/** Of every row that the upstream shows. */
const SHOWN = {
  extra: 'fields of the API that have no column here, as a JSON object',
  first_seen_at: 'when the mirror first saw it, UTC',
  changed_at: 'when the mirror last saw it change, UTC',
};
const ERASED_AT = { erased_at: 'when its text was erased for good, UTC' };
/** Of posts and comments, also those that are gone. */
const KEPT = {
  created_raw: "the upstream's own text of it, where that says more",
  version_at: 'since when it has looked as it does, UTC; the last line of its history',
  deleted_at: 'when it was found gone upstream, UTC; NULL while it is there',
  ...ERASED_AT,
};

const POST = {
  ...numberOf('post'),
  title: 'its title',
  content: 'its text',
  url: 'its page',
  board_id: 'boards.id',
  status_id: 'statuses.id',
  votes_count: 'votes it has',
  comments_count: 'comments it has, as the upstream counts them',
  created: 'when it was written, UTC',
  ...SHOWN,
};

const COMMENT = {
  ...numberOf('comment'),
  kind: 'what kind of comment, as the upstream calls it',
  status: 'the status it set, as JSON; NULL for an ordinary comment',
  likes_count: 'likes it has',
  highlighted: '1 where the team put it first',
  internal: '1 where only the team sees it',
  content: 'its text',
  created: 'when it was written, UTC',
  ...SHOWN,
};

const CREATOR = { creator_id: 'users.id', creator: 'name of who wrote it', creator_email: 'their e-mail' };

/** What the mirror is for. A test holds every name here against the schema, and the schema against the names. */
export const PUBLIC_TABLES: readonly TableWords[] = [
  table('live_posts', 'posts that are there now, with the names of board, status and creator', {
    ...POST,
    board: 'name of the board',
    board_slug: 'short name of the board, as in its URL',
    status: 'name of the status',
    status_color: 'colour of the status',
    ...CREATOR,
  }),
  table('live_comments', 'comments that are there now, with the names of post, board and creator', {
    ...COMMENT,
    post_id: 'posts.id',
    post_title: 'title of the post; as its comments show it, where the post is deleted',
    board: 'name of the board; NULL where the mirror does not have the post',
    ...CREATOR,
    creator_is_team: '1 where they belong to the team',
  }),
  table(
    'team_replies',
    'replies that count as an answer: of kind "reply", by the team or an admin, not internal, not deleted',
    {
      id: 'comments.id',
      post_id: 'posts.id',
      creator_id: 'users.id',
      content: COMMENT.content,
      created: COMMENT.created,
    },
  ),
  table('posts', 'every post ever seen, deleted ones included', {
    ...POST,
    creator_id: 'users.id of who wrote it',
    ...KEPT,
  }),
  table('comments', 'every comment ever seen, deleted ones included', {
    ...COMMENT,
    post_id: 'posts.id of the post that it belongs to',
    creator_id: 'users.id of who wrote it',
    ...KEPT,
  }),
  table('users', 'people who wrote posts or comments', {
    ...numberOf('person'),
    email: 'e-mail',
    name: 'name',
    alias: 'the name shown instead, if any',
    registered: 'when they registered, UTC',
    registered_raw: "the upstream's own text of it, where that says more",
    is_admin: '1 for an administrator',
    is_team: '1 for a member of the team',
    ...SHOWN,
  }),
  table('boards', 'boards', {
    ...numberOf('board'),
    name: 'name',
    url: 'its page',
    slug: 'short name, as in its URL; what create and import call the board',
    ...SHOWN,
  }),
  table('statuses', 'statuses a post can have', {
    ...numberOf('status'),
    name: 'name',
    color: 'colour',
    ...SHOWN,
  }),
  table(
    'post_history',
    'how each post looked over time: one row for every change seen of these columns, or of its author',
    {
      post_id: 'posts.id',
      observed_at: 'since when it looked so, UTC',
      title: 'its title then',
      content: 'its text then',
      board_id: 'its board then',
      status_id: 'its status then',
      votes_count: 'its votes then',
      comments_count: 'its comments then',
      deleted: '1 where it was gone then',
    },
  ),
  table(
    'comment_history',
    'how each comment looked over time: one row for every change seen of these columns',
    {
      comment_id: 'comments.id',
      observed_at: 'since when it looked so, UTC',
      content: 'its text then',
      likes_count: 'its likes then',
      highlighted: '1 where the team had put it first',
      internal: '1 where only the team saw it',
      status: 'the status it set, as JSON',
      deleted: '1 where it was gone then',
      post_id: 'the post it belonged to then; posts.id',
      creator_id: 'who had written it then; users.id',
      kind: 'what it was then: comment or reply',
    },
  ),
  table(
    'posts_text',
    "full-text index of the posts: WHERE posts_text MATCH 'dark AND mode' ORDER BY rank; rowid is posts.id",
    {
      title: 'the words of the title',
      content: 'the words of the text',
    },
  ),
  table(
    'comments_text',
    "full-text index of the comments: WHERE comments_text MATCH 'dark AND mode' ORDER BY rank; rowid is comments.id",
    { content: 'the words of the comment' },
  ),
  table('segments', 'the customers file that was imported last: one row an address or a domain', {
    id: 'number of the customer; another one after the next import',
    email: 'address of the customer, in small letters; NULL where the row is for a domain',
    domain: 'domain of all addresses that are this customer; NULL where the row is for an address',
    company: 'company, as the file names it',
    plan: 'plan, as the file names it',
    value: 'what the customer is worth, as the file says; NULL where it has no number',
    value_name: 'what the file calls the column of value, such as mrr',
    extra: 'further columns of the file, as a JSON object of texts',
    imported_at: 'when the file was imported, UTC',
    imported_by: 'who imported it',
  }),
  table('people_segments', 'which customer of the file a person belongs to', {
    user_id: 'users.id',
    segment_id: 'segments.id',
  }),
  table('told_people', 'who was told that a post was delivered', {
    post_id: 'posts.id',
    user_id: 'users.id',
    told_at: 'when somebody marked them as told, UTC',
    told_by: 'who marked them',
  }),
  table('same_posts', 'pairs of posts that a person has marked as the same', {
    post_id: 'posts.id, the lower of the two',
    same_as: 'posts.id, the higher',
    marked_at: 'when it was marked, UTC',
  }),
  table(
    'post_groups',
    'every post that was marked as the same as others: sum votes by group_id to count them together',
    { post_id: 'posts.id', group_id: 'the lowest posts.id of those that are the same' },
  ),
  table('outbox', 'posts to send, and what became of each', {
    id: 'number of the row',
    batch: 'which import or create it came with',
    source_key: 'what the row is known by at its source; the same one is accepted once',
    line: 'line in the imported file',
    kind: "owner: sent as the token's owner; as-user: sent as the customer",
    board: 'short name of the board',
    title: 'title',
    content: 'text',
    email: "the customer's e-mail",
    full_name: "the customer's name",
    content_hash: 'equal for rows whose posts would look the same',
    state: 'proposed, ready, sending, confirmed, rejected, ambiguous, uncertain or cancelled',
    attempts: 'how often it was sent',
    not_before: 'not sent before this time, UTC',
    post_id: 'posts.id of the post it became',
    url: 'page of that post',
    last_error: 'what went wrong last',
    matched:
      'how its post was found where no answer named it: marked, same, part, person; earlier: exact, similar',
    baseline: 'posts that a person has turned down as the post of this row, as a JSON list of ids',
    first_sent_at: 'when the first attempt that can have left a post began, UTC',
    known_max_id: 'highest posts.id that was known before that attempt',
    not_found: 'complete reads of the list that did not show it',
    candidates: 'posts a person may choose from, as a JSON list of ids',
    was_ambiguous: '1 where it was once unclear whether it arrived',
    checks_left: 'complete sweeps that still check for a second post of it',
    duplicate_of: 'a second post that matches it, if one was found',
    mark: 'last line of the content as it was sent, with the reference of the row',
    on_hold: '1 while its import is paused, cancelled, or slower than the service: it is ready, but not sent',
    created_at: 'when it was accepted, UTC',
    changed_at: 'when its state last changed, UTC',
    ...ERASED_AT,
  }),
  table('outbox_attempts', 'every attempt to send a row of the outbox', {
    outbox_id: 'outbox.id',
    n: 'first, second, third attempt',
    started_at: 'when it began, UTC',
    deadline_at: 'after this time it cannot still be on its way, UTC',
    ended_at: 'when it ended, UTC; NULL while it runs, or after a crash',
    outcome: 'what came of it',
    http_status: 'status of the answer',
    post_id: 'the post it made',
    error: 'what went wrong',
    after_run:
      'sync_runs.id of the latest pass over the posts when it ended; NULL if a pass had shown its post by then',
  }),
  table('outbox_edits', 'what a row of the outbox said before a person edited it', {
    outbox_id: 'outbox.id',
    n: 'first, second, third edit',
    edited_at: 'when it was edited, UTC',
    before: 'board, title, content, email and full_name before that, as JSON',
  }),
  table('batches', 'imports that were paused, cancelled or given a pace of their own', {
    batch: 'outbox.batch',
    created_at: 'when it was first decided about, UTC',
    per_minute: 'posts a minute at most; NULL for the pace of the service',
    mark: 'the text before the reference in its posts; NULL where the setting decides',
    next_at: 'from when on its rows may go, where it has a pace of its own or was resumed, UTC',
    paused_at: 'since when it is paused, UTC',
    cancelled_at: 'when it was cancelled, UTC',
  }),
  table('sync_runs', 'what each pass over the upstream did', {
    id: 'number of the run',
    resource: 'posts or comments',
    mode: 'sweep: the whole list; head: its newest rows',
    started_at: 'when it began, UTC',
    finished_at: 'when it ended, UTC',
    outcome: 'running, complete, incomplete (the list left out rows), interrupted or failed',
    resumed: 'how often it was resumed after an interruption',
    pages: 'pages read',
    rows: 'rows read',
    inserted: 'rows that were new',
    updated: 'rows that had changed',
    unchanged: 'rows that had not',
    deleted: 'rows found deleted',
    held: 'deletions held back for a person to confirm',
    suspects: 'rows that may be gone',
    quarantined: 'rows that could not be read',
    error: 'why it failed',
  }),
  table('quarantine', 'rows the upstream sent that could not be read', {
    id: 'number of the entry',
    resource: 'posts or comments',
    seen_at: 'when it came, UTC',
    run_id: 'sync_runs.id',
    reason: 'what is wrong with it',
    body: 'the row as it came, as JSON',
  }),
];

/** How the mirror works inside: may be read, promises nothing, and is not described column by column. */
export const INSIDE_TABLES: Readonly<Record<string, string>> = {
  post_versions: 'earlier versions of posts, of which post_history is made',
  comment_versions: 'earlier versions of comments, of which comment_history is made',
  commented_posts: 'title and address of posts as comments mention them',
  sync_state: 'where an interrupted pass continues',
  sweep_pages: 'pages of a sweep under way that differ from the last one, as packed ids',
  list_pages: 'which ids the last complete sweep showed, page by page',
  returned_rows: 'rows that have shown again since a sweep missed them',
  absences: 'rows that the last complete sweep missed, each with its score: at 1 a row counts as deleted',
  changes: 'the change feed: what changed, by number; see docs/changes.md',
  feed_lists: 'from which change on each list is told of',
  webhooks: 'how far each webhook endpoint was told',
  webhook_deliveries: 'the last attempts to deliver changes to webhook endpoints',
  saved_queries: 'statements that people keep on the SQL page',
  saved_views: 'lists and reports with their filters that people keep on the dashboard',
  sent_boards: 'boards that a post was sent to',
  former_board_slugs: 'short names that boards had before they were renamed',
  report_columns: 'numbers and times of posts, comments and versions, packed by column for reports',
  report_packed: 'up to which row they are packed',
  report_changes: 'packed rows that were written since',
  import_duplicates: 'rows of a file that look like posts, until it is imported',
  rules: 'how far each rule has looked',
  rule_messages: 'messages of rules, as ids and periods',
  rule_deliveries: 'what became of a message in each channel',
  rule_alarms: 'boards that a rule told of as unusual',
  wire_fields: 'fields of the rows of each list, with the kinds of their values',
  drifts: 'fields that vanished, appeared or changed their kind',
};

/** Not to be read by SQL from people, with the reason. */
export const HIDDEN_TABLES: Readonly<Record<string, string>> = {
  meta: 'notes of the program to itself',
  suppressions: 'hashes of the addresses of people who were erased',
  suppressed_users: 'numbers of people who were erased',
  users_to_check: 'people who may have nothing left here',
};
