// Runs before the first paint, so that a chosen theme does not flash. The Content-Security-Policy forbids inline scripts.
try {
  const theme = localStorage.getItem('guidon-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  if (localStorage.getItem('guidon-rows') === 'comfortable') document.documentElement.dataset.rows = 'comfortable'
} catch {
  // Storage is blocked: the theme of the system applies.
}
