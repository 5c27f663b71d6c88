/** The lists that can be walked page by page. In a file of its own: the command line names them without loading the schemas. */
export const RESOURCES = ['posts', 'comments'] as const;
export type Resource = (typeof RESOURCES)[number];
