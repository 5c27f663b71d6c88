/** A classic script in the head, so that the chosen theme is set before anything is painted. */
const chosen = localStorage.getItem('theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
