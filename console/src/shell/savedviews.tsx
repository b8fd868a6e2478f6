import { lazy, Suspense, useState } from 'react'
import { Button } from '../ui/button'
import { Icons } from '../ui/icons'
import { Menu } from '../ui/menu'
import { useViews, type ViewState } from './views'

const ViewsDialog = lazy(() => import('./viewsdialog'))

interface SavedViewsProps<State extends ViewState> {
  /** The list: 'flags'. */
  list: string
  /** The filters that are shown. */
  state: State
  /** The filters of the list without any: what a view does not have returns to it. */
  defaults: State
  onChange: (state: State) => void
}

/** The views that a person has saved of a list: its filters under a name. */
export function SavedViews<State extends ViewState>({ list, state, defaults, onChange }: SavedViewsProps<State>) {
  const [views, setViews] = useViews(list)
  const [managing, setManaging] = useState(false)
  const full = (saved: ViewState) => Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, saved[name] ?? value])) as State
  const shown = JSON.stringify(full(state))
  return (
    <>
      <Menu
        heading="Saved views, kept in this browser"
        trigger={<Button icon={<Icons.Star />}>Views</Button>}
        entries={[
          ...views.map((view) => ({ label: view.name, checked: JSON.stringify(full(view.state)) === shown, onSelect: () => onChange(full(view.state)) })),
          ...(views.length ? (['separator'] as const) : []),
          { label: 'Save or delete views…', icon: <Icons.Edit />, onSelect: () => setManaging(true) },
        ]}
      />
      {managing && (
        <Suspense fallback={null}>
          <ViewsDialog views={views} state={full(state)} onChange={setViews} onClose={() => setManaging(false)} />
        </Suspense>
      )}
    </>
  )
}
