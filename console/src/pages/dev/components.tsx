// Every shared component once, with its states, for those who build pages: npm run dev, then /dev/components. The build leaves it out.
import { useState, type ReactNode } from 'react'
import { Page, useUrlState } from '../../shell'
import * as UI from '../../ui'
import { Changes } from '../../ui/changes'
import { Combobox, MultiCombobox } from '../../ui/combobox'
import { FilterBar } from '../../ui/filters'

const types = ['Release', 'Experiment', 'Operational', 'Kill switch', 'Permission'].map((label) => ({ value: label.toLowerCase(), label }))
const many = Array.from({ length: 24 }, (_, index) => ({ value: `project-${index}`, label: `Project ${index}` }))
const environments = [
  { value: 'development', label: 'development' },
  { value: 'production', label: 'production', production: true },
]
const users = Array.from({ length: 30 }, (_, index) => `user-${1000 + 7 * index}`)
const rows = Array.from({ length: 12 }, (_, index) => ({
  name: `checkout-${index}`,
  type: types[index % 5]!.label,
  rollout: (index * 10) % 110,
  at: Date.now() - index * 3_700_000,
}))

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="stack-s">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

export default function ComponentsPage() {
  const [view, setView] = useUrlState({ q: '', type: '', project: '', environment: '', favorites: '' })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [text, setText] = useState('')
  const [type, setType] = useState('release')
  const [project, setProject] = useState('project-3')
  const [environment, setEnvironment] = useState('production')
  const [fields, setFields] = useState(['development'])
  const [on, setOn] = useState(true)
  const [open, setOpen] = useState<'dialog' | 'sheet'>()
  const shown = rows.filter((row) => row.name.includes(view.q) && (!view.type || row.type.toLowerCase() === view.type))
  return (
    <Page
      title="Components"
      aside={<UI.Badge kind="accent">Development</UI.Badge>}
      actions={
        <>
          <UI.Button onClick={() => setOpen('dialog')}>Open dialog</UI.Button>
          <UI.Button variant="primary" icon={<UI.Icons.Plus />} onClick={() => setOpen('sheet')}>
            Open sheet
          </UI.Button>
        </>
      }
      rail={
        <>
          <div>
            <h2>Owner</h2>
            <p>Team checkout</p>
          </div>
          <div>
            <h2>Tags</h2>
            <div className="row">
              <UI.Tag type="team" value="growth" onRemove={() => {}} />
              <UI.Tag type="simple" value="beta" />
            </div>
          </div>
        </>
      }
    >
      <Part title="Filters and table: j, k, x">
        <FilterBar
          noun="flag"
          search="Search flags"
          filters={[
            { name: 'type', label: 'Type', choices: types },
            { name: 'project', label: 'Project', choices: many },
            { name: 'environment', label: 'On in', choices: environments },
            { name: 'favorites', label: 'Favorites', choices: [{ value: 'yes', label: 'Favorites' }] },
          ]}
          values={view}
          onChange={setView}
          shown={shown.length}
          total={rows.length}
        >
          <UI.Button variant="primary" icon={<UI.Icons.Plus />}>
            Create flag
          </UI.Button>
        </FilterBar>
        <UI.Table
          label="Flags"
          rows={shown}
          rowKey={(row) => row.name}
          selected={(row) => selected.has(row.name)}
          onSelect={(row, chosen) => setSelected((old) => new Set(chosen ? [...old, row.name] : [...old].filter((name) => name !== row.name)))}
          columns={[
            { id: 'name', header: 'Name', sticky: true, cell: (row) => <a href={`#${row.name}`}>{row.name}</a> },
            { id: 'type', header: 'Type', cell: (row) => <UI.Badge>{row.type}</UI.Badge> },
            { id: 'rollout', header: 'Rollout', cell: (row) => <UI.Meter label="Rollout" value={row.rollout} /> },
            { id: 'at', header: 'Last used', cell: (row) => <UI.DateTime value={row.at} /> },
            {
              id: 'actions',
              header: 'Actions',
              hideHeader: true,
              cell: (row) => <UI.ActionMenu label={`Actions for ${row.name}`} entries={[{ label: 'Archive', danger: true }]} />,
            },
          ]}
        />
        <UI.Table label="Loading" rows={[]} rowKey={() => ''} loading columns={[{ id: 'a', header: 'Name', cell: () => null }]} />
      </Part>
      <Part title="Rows">
        <UI.Section
          title={
            <>
              production <UI.ProductionMark type="production" />
            </>
          }
          actions={<UI.Switch label="checkout in production" checked={on} onChange={setOn} />}
        >
          <div className="lines">
            <UI.Row
              label="Strategy 1"
              sentence="25% of users in segment beta customers."
              percent={25}
              marks={<UI.Info>The same userId always gets the same result.</UI.Info>}
              actions={<UI.IconButton size="small" label="Edit strategy 1" icon={<UI.Icons.Edit />} />}
              details={<p>userId is one of many.</p>}
            />
            <UI.Row
              label="Strategy 2"
              title="Hand-picked customers"
              sentence="30 users"
              marks={<UI.More values={users} label="All users" />}
              note={
                <UI.Badge kind="accent">
                  In draft: {UI.percent(25)} → {UI.percent(50)}
                </UI.Badge>
              }
            />
            <UI.Row label="Strategy 3" sentence="Everyone." percent={100} soft marks={<UI.Badge>Disabled</UI.Badge>} />
          </div>
        </UI.Section>
      </Part>
      <Part title="Changes in words">
        <Changes sentences={['Rollout 25% → 50%', 'Added 3 user IDs: a, b and c']} before={{ rollout: 25 }} after={{ rollout: 50 }} />
      </Part>
      <Part title="Notices: one at a time">
        <UI.Notices
          of={[
            false,
            <UI.Notice key="warn" kind="warn">
              25% of users → 50% of users in production
            </UI.Notice>,
            <UI.Notice key="info">Not shown.</UI.Notice>,
          ]}
        />
        <UI.Notice>Information is neutral.</UI.Notice>
        <UI.Notice kind="ok">Checked: no problem.</UI.Notice>
        <UI.Notice kind="danger" title="The server refused it">
          The name is taken.
        </UI.Notice>
      </Part>
      <Part title="Steps">
        <UI.Stepper
          label="State of the change request"
          current={2}
          steps={[
            { label: 'Draft' },
            { label: 'Review', note: 'Anna, 3 h ago' },
            { label: 'Approved', note: '1 of 1' },
            { label: 'Scheduled', note: 'in 20 min' },
            { label: 'Applied' },
          ]}
        />
        <UI.Stepper label="A rejected one" current={1} failed steps={[{ label: 'Draft' }, { label: 'Rejected' }]} />
      </Part>
      <Part title="Fields">
        <form className="stack narrow">
          <UI.TextField label="Name" required value={text} onChange={setText} hint="Letters, digits, - and _." />
          <UI.TextField label="With an error" value={text} onChange={setText} error="The name is taken." />
          <UI.Select label="Few choices" choices={types} value={type} onChange={setType} />
          <UI.Select label="Many choices" choices={many} value={project} onChange={setProject} />
          <UI.Select label="Environment" choices={environments} value={environment} onChange={setEnvironment} />
          <UI.Select label="Disabled" choices={types} value={type} onChange={setType} disabledReason="You need a permission." />
          <Combobox label="Combobox" choices={many} value={project} onChange={setProject} />
          <MultiCombobox label="Several" choices={environments} value={fields} onChange={setFields} />
          <UI.NumberField label="Percentage" unit="%" value={25} onChange={() => {}} />
          <UI.TextArea label="Description" value={text} onChange={setText} />
          <UI.Checkbox label="Impression data" checked={on} onChange={setOn} />
          <UI.RadioGroup
            label="Mode"
            choices={[
              { value: 'a', label: 'Open', hint: 'Everyone.' },
              { value: 'b', label: 'Private' },
            ]}
            value="a"
            onChange={() => {}}
          />
        </form>
      </Part>
      <Part title="Buttons, badges, chips, bars">
        <div className="row">
          <UI.Button>Secondary</UI.Button>
          <UI.Button variant="primary">Primary</UI.Button>
          <UI.Button variant="danger">Delete</UI.Button>
          <UI.Button variant="quiet">Quiet</UI.Button>
          <UI.Button size="small">Small</UI.Button>
          <UI.Button pending>Pending</UI.Button>
          <UI.Button disabledReason="You need a permission.">Disabled</UI.Button>
          <UI.Button onClick={() => UI.toast.success('checkout is on in production', { undo: () => Promise.resolve() })}>Toast</UI.Button>
        </div>
        <div className="row">
          <UI.Badge>Neutral</UI.Badge>
          <UI.Badge kind="ok">On</UI.Badge>
          <UI.Badge kind="warn">Widens</UI.Badge>
          <UI.Badge kind="danger">Failed</UI.Badge>
          <UI.Badge kind="accent">In draft</UI.Badge>
          <UI.Chip onRemove={() => {}}>Removable</UI.Chip>
          <UI.Meter label="Share" value={12.5} />
          <UI.Meter label="Share" value={80} kind="ok" />
        </div>
        <UI.Facts
          items={[
            ['Created', <UI.DateTime key="created" value={rows[1]!.at} />],
            ['Seen', <UI.DateTime key="seen" value={null} />],
          ]}
        />
        <div className="grid">
          <UI.Figure label="On" value={UI.percent(12)} hint="102 on, 899 off" />
        </div>
        <UI.CodeBlock label="Snippet" code="curl https://guidon.example/api/client/features" />
      </Part>
      <Part title="Waiting and empty">
        <UI.Loading />
        <UI.Skeleton width="short" />
        <UI.EmptyState title="No flags yet" action={<UI.Button variant="primary">Create flag</UI.Button>}>
          A flag switches a feature on for some users.
        </UI.EmptyState>
      </Part>
      {open === 'sheet' && (
        <UI.Dialog sheet open onClose={() => setOpen(undefined)} title="Edit strategy in production">
          <form className="stack">
            {Array.from({ length: 12 }, (_, index) => (
              <UI.TextField key={index} label={`Field ${index}`} value="" onChange={() => {}} />
            ))}
            <UI.DialogActions sentence="25% → 50% of users in segment beta customers.">
              <UI.Button onClick={() => setOpen(undefined)}>Cancel</UI.Button>
              <UI.Button variant="primary">Save</UI.Button>
            </UI.DialogActions>
          </form>
        </UI.Dialog>
      )}
      {open === 'dialog' && (
        <UI.Dialog open onClose={() => setOpen(undefined)} title="Switch checkout on in production?" description="For 25% of users.">
          <UI.DialogActions>
            <UI.Button onClick={() => setOpen(undefined)}>Cancel</UI.Button>
            <UI.Button variant="primary">Switch on</UI.Button>
          </UI.DialogActions>
        </UI.Dialog>
      )}
    </Page>
  )
}
