/** The pennant of Guidon. */
export function Logo() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#4338ca" />
      <path d="M8 6.5v19" stroke="#c7d2fe" strokeWidth="2.6" strokeLinecap="round" />
      <path d="M10.5 7.5H26l-5 5 5 5H10.5z" fill="#fff" />
    </svg>
  )
}
