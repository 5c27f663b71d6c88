import { linePairs, type Written } from './pairs.ts';

/**
 * Two customers who ask for different things in nearly the same words. A person would not merge them: another language, product, number
 * or format, or the opposite. Written before anything was measured with it.
 */
export const NEAR_MISSES: [one: Written, other: Written][] = linePairs(`
Translate the app into Polish | Our staff in Warsaw does not speak English.
Translate the app into Finnish | Our staff in Helsinki does not speak English.
Export to PDF | I need the report as a PDF file to send it to the board.
Export to Excel | I need the report as an Excel file to calculate with it.
Slack integration | New feedback should be posted to a Slack channel.
Salesforce integration | New feedback should appear at the account in Salesforce.
App for Android | Please make a native app for my Pixel.
App for Windows | Please make a native app for my desktop.
Import contacts from CSV | We have 2,000 contacts in a file.
Export contacts to CSV | We want to take our 2,000 contacts with us.
Sort the list by votes | The most wanted ideas should come first.
Sort the list by date | The newest ideas should come first.
Limit of 5 users is too low | We are seven people in the team.
Limit of 100 MB is too low | Our videos are larger than that.
Calendar sync with Outlook | Appointments should show up in my calendar.
Calendar sync with Google | Appointments should show up in my calendar.
Show weekends in the planner | We work on Saturday and Sunday.
Hide weekends in the planner | We never work on Saturday and Sunday.
Notify me when a task is assigned | I miss new tasks.
Notify me when a task is overdue | I miss deadlines.
Filter posts by board | The list shows everything at once.
Filter posts by author | I want to see what one person wrote.
Login with Okta | Our company manages accounts in Okta.
Login with GitHub | Our developers all have GitHub accounts.
Error 404 when I open a report | The page is not found since Monday.
Error 500 when I open a report | The page crashes since Monday.
Keyboard shortcut for closing a ticket | I close a hundred tickets a day.
Keyboard shortcut for creating a ticket | I create a hundred tickets a day.
Support for Firefox | The editor does not load in Firefox.
Support for Safari | The editor does not load in Safari.
Duplicate a project | Our projects start with the same steps.
Delete a project | Old projects clutter the list.
Add a column for the price | The overview should show the price of each item.
Add a column for the supplier | The overview should show the supplier of each item.
Invoices in Swiss francs | We bill customers in Zurich.
Invoices in Norwegian kroner | We bill customers in Oslo.
Make the description mandatory | People leave the description empty.
Make the title mandatory | People leave the title empty.
Webhook when a post is created | Our system should know about new posts.
Webhook when a post is deleted | Our system should know about removed posts.
Monthly report by e-mail | Send me the numbers every month.
Weekly report by e-mail | Send me the numbers every week.
Increase the font size | Text is too small on my screen.
Increase the row height | Rows are too narrow on my screen.
Assign a colour to a board | Boards should be told apart at a glance.
Assign an owner to a board | Somebody should be responsible for a board.
Upload a company logo | Our brand should be on the portal.
Upload a profile picture | My colleagues should see my face.
Zapier trigger for new comments | Start a zap when someone comments.
Zapier trigger for new votes | Start a zap when someone votes.
Archive boards | Boards of finished projects should disappear.
Archive users | Accounts of former colleagues should disappear.
Print the schedule | I hang the schedule in the workshop.
Share the schedule | I send the schedule to our freelancers.
Search in comments | Answers cannot be found.
Search in attachments | Files cannot be found.
VAT number on invoices | Tax law requires the VAT number.
Order number on invoices | Our customers require the order number.
Block anonymous posts | Spammers post without an account.
Allow anonymous posts | Employees are afraid to show their name.
Merge two posts | There are many duplicates.
Split a post in two | Customers put several ideas into one post.
API version 2 | When will the new endpoints be documented?
API version 3 | When will the new endpoints be documented?
Dark mode for the mobile app | The app is too bright at night.
Offline mode for the mobile app | The app shows nothing without a connection.
Reminder one day before the deadline | I want to be warned in time.
Reminder one hour before a meeting | I want to be warned in time.
Custom fields for contacts | We need a customer number.
Custom fields for invoices | We need a cost centre.
Roles for guests | Guests should only read.
Roles for administrators | Administrators should not see salaries.
Dashboard loads slowly in Chrome | It takes ten seconds.
Dashboard shows wrong totals in Chrome | The sum is not right.
Change the time zone of a meeting | Our partner is in Tokyo.
Change the owner of a meeting | The organiser is on holiday.
Sync with Jira | Issues should be created in Jira.
Sync with Linear | Issues should be created in Linear.
Two-factor login by SMS | Send a code to my phone.
Two-factor login by security key | I have a YubiKey.
`);
