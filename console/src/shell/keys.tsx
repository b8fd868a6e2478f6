import { useNavigate, type LinkProps } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Dialog } from '../ui/dialog'

/** Where g and a letter lead. */
const places: Record<string, { label: string; to: LinkProps['to'] }> = {
  p: { label: 'Projects', to: '/projects' },
  f: { label: 'Flags', to: '/flags' },
  r: { label: 'Change requests', to: '/change-requests' },
  s: { label: 'Segments', to: '/segments' },
  y: { label: 'Playground', to: '/playground' },
  a: { label: 'Audit log', to: '/audit' },
  c: { label: 'Connect', to: '/connect' },
}

// Keys that press the first such button of the page.
const presses: Record<string, RegExp> = { c: /^(Create|Add|Invite)\b/, e: /^Edit\b/ }

const others = [
  ['Ctrl K', 'Search, or do something'],
  ['/', 'Search the list'],
  ['j  k', 'Next or previous row'],
  ['x', 'Select the row'],
  ['c', 'Create or add'],
  ['e', 'Edit'],
  ['?', 'These keys'],
] as const

/** The keys of all pages: they do nothing while a person types or a dialog is open. */
export function useKeys({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  const navigate = useNavigate()
  const went = useRef(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        return onSearch()
      }
      const typing = target.closest('input:not([type="checkbox"]), textarea, [contenteditable], [role="combobox"]') ?? document.querySelector('[role="dialog"]')
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return
      const place = went.current ? places[event.key] : undefined
      went.current = event.key === 'g'
      if (place) {
        event.preventDefault()
        void navigate({ to: place.to } as never)
      } else if (event.key === '?') onHelp()
      else if (presses[event.key]) {
        event.preventDefault()
        const buttons = [...document.querySelectorAll<HTMLElement>('#content button')]
        buttons.find((one) => presses[event.key]!.test(one.ariaLabel ?? one.textContent))?.click()
      } else if (event.key === '/') {
        event.preventDefault()
        const field = document.querySelector<HTMLInputElement>('#content input[type="search"]')
        if (field) field.focus()
        else onSearch()
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [navigate, onSearch, onHelp])
}

/** Lists the keys. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const goes = Object.entries(places).map(([letter, { label }]) => [`g  ${letter}`, label] as const)
  return (
    <Dialog open onClose={onClose} title="Keys">
      <dl className="keys" tabIndex={-1} data-focus="">
        {[...others, ...goes].map(([keys, label]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
