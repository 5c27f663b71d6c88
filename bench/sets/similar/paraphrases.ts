import { linePairs, type Written } from './pairs.ts';

/** Two customers who ask for the same thing in other sentences, with some words in common. Written before anything was measured with it. */
export const PARAPHRASES: [one: Written, other: Written][] = linePairs(`
Add a dark mode | I work late and the white background hurts my eyes.
Dark theme for the app please | The bright background is tiring at night.
Export to CSV | I want to open the list in a spreadsheet.
CSV download of the list | Let me take the list into Excel.
Slack integration | Post new ideas to a channel.
Integrate with Slack | We want messages in our Slack channel when there is something new.
Merge duplicate posts | The same idea is there five times.
Allow merging of duplicates | Several posts ask for the same idea.
Two-factor authentication | A password alone is not safe.
Support 2FA with an authenticator app | We need two-factor login for our security audit.
Bulk edit of tickets | Changing 200 tickets one by one takes hours.
Edit many tickets at once | I need to change the owner of 200 tickets.
Translate the interface into Spanish | My team in Madrid does not read English.
Spanish translation is missing | The interface should be in Spanish for our team.
Undo for deleted items | I deleted an item by mistake.
Restore items after deletion | It would help to get deleted items back.
Recurring tasks every week | Every Monday I make the same task.
Repeat tasks weekly | Let a task come again each week.
App crashes when uploading a photo | It closes when I pick a photo.
Crash on photo upload | Uploading a picture closes the app.
Reset password e-mail does not arrive | I wait for hours for the mail.
Password reset mail never comes | No mail arrives when I reset my password.
Sort by votes | The most wanted should be first.
Let us sort ideas by number of votes | Popular ideas should be on top.
Attachments in comments | I want to add a screenshot to a comment.
Attach files to a comment | Please let us add screenshots.
Keyboard shortcuts | I do not want to use the mouse.
Shortcuts on the keyboard for common actions | Working without the mouse is faster.
Filter by creation date | Show only posts from last month.
Date filter for posts | I want only those created last month.
Mobile app works without internet | No reception in the basement.
Offline use of the mobile app | The app should work in the basement without reception.
Search is very slow | It takes ten seconds to find something.
Speed up the search | Searching takes ten seconds.
Gantt chart for projects | Show dependencies of tasks.
Project view as Gantt | We need a Gantt chart with dependencies.
SSO with Okta | Our company uses Okta for everything.
Single sign-on through Okta | We manage accounts in Okta.
Notifications for mentions | I do not notice when I am mentioned.
Notify me when someone mentions me | Mentions should send a mail.
Custom fields on contacts | We need a customer number.
Contacts need additional custom fields | There is no place for our customer number.
Invoice as PDF | Accounting wants a file for each invoice.
Download invoices in PDF format | I need the PDF of each invoice for accounting.
Print view for the roster | I hang the roster on the wall.
Printing the roster | The roster should fit on a page for the wall.
Import from Trello | We want to bring our boards along.
Trello importer | Moving our boards by hand takes weeks.
API rate limit is too low | We get 429 all night.
Increase the rate limit of the API | Our sync job gets 429.
Assign several people to a task | We work in pairs.
Multiple assignees per task | Two of us share most tasks.
Archive old projects | The list is full of finished projects.
Hide finished projects by archiving them | Old projects clutter the list.
Time zone is shown wrong | Times are an hour early.
Wrong time zone in reports | All times are off by an hour.
Webhook on status change | Tell our system when a status changes.
Send a webhook when the status of a post changes | Polling for changes is wasteful.
Read-only role for guests | Guests should not change anything.
Guest users with read only access | Let guests look without editing.
`);
