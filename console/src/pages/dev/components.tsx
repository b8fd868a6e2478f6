// Every shared component once, with its states, for those who build pages: npm run dev, then /dev/components. The build leaves it out.
import { useState, type ReactNode } from 'react'
import { Page, useUrlState } from '../../shell'
import {
  ActionMenu,
  Badge,
  Button,
  Checkbox,
  Chip,
  CodeBlock,
  DateTime,
  Dialog,
  DialogActions,
  EmptyState,
  Facts,
  Figure,
  IconButton,
  Icons,
  Info,
  Loading,
  Meter,
  More,
  Notice,
  Notices,
  NumberField,
  ProductionMark,
  RadioGroup,
  Row,
  Section,
  Select,
  Skeleton,
  Stepper,
  Switch,
  Table,
  Tag,
  TextArea,
  TextField,
  percent,
  toast,
} from '../../ui'
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
      aside={<Badge kind="accent">Development</Badge>}
      actions={
        <>
          <Button onClick={() => setOpen('dialog')}>Open dialog</Button>
          <Button variant="primary" icon={<Icons.Plus />} onClick={() => setOpen('sheet')}>
            Open sheet
          </Button>
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
              <Tag type="team" value="growth" onRemove={() => {}} />
              <Tag type="simple" value="beta" />
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
          <Button variant="primary" icon={<Icons.Plus />}>
            Create flag
          </Button>
        </FilterBar>
        <Table
          label="Flags"
          rows={shown}
          rowKey={(row) => row.name}
          selected={(row) => selected.has(row.name)}
          onSelect={(row, chosen) => setSelected((old) => new Set(chosen ? [...old, row.name] : [...old].filter((name) => name !== row.name)))}
          columns={[
            { id: 'name', header: 'Name', sticky: true, cell: (row) => <a href={`#${row.name}`}>{row.name}</a> },
            { id: 'type', header: 'Type', cell: (row) => <Badge>{row.type}</Badge> },
            { id: 'rollout', header: 'Rollout', cell: (row) => <Meter label="Rollout" value={row.rollout} /> },
            { id: 'at', header: 'Last used', cell: (row) => <DateTime value={row.at} /> },
            {
              id: 'actions',
              header: 'Actions',
              hideHeader: true,
              cell: (row) => <ActionMenu label={`Actions for ${row.name}`} entries={[{ label: 'Archive', danger: true }]} />,
            },
          ]}
        />
        <Table label="Loading" rows={[]} rowKey={() => ''} loading columns={[{ id: 'a', header: 'Name', cell: () => null }]} />
      </Part>
      <Part title="Rows">
        <Section
          title={
            <>
              production <ProductionMark type="production" />
            </>
          }
          actions={<Switch label="checkout in production" checked={on} onChange={setOn} />}
        >
          <div className="lines">
            <Row
              label="Strategy 1"
              sentence="25% of users in segment beta customers."
              percent={25}
              marks={<Info>The same userId always gets the same result.</Info>}
              actions={<IconButton size="small" label="Edit strategy 1" icon={<Icons.Edit />} />}
              details={<p>userId is one of many.</p>}
            />
            <Row
              label="Strategy 2"
              title="Hand-picked customers"
              sentence="30 users"
              marks={<More values={users} label="All users" />}
              note={
                <Badge kind="accent">
                  In draft: {percent(25)} → {percent(50)}
                </Badge>
              }
            />
            <Row label="Strategy 3" sentence="Everyone." percent={100} soft marks={<Badge>Disabled</Badge>} />
          </div>
        </Section>
      </Part>
      <Part title="Changes in words">
        <Changes sentences={['Rollout 25% → 50%', 'Added 3 user IDs: a, b and c']} before={{ rollout: 25 }} after={{ rollout: 50 }} />
      </Part>
      <Part title="Notices: one at a time">
        <Notices
          of={[
            false,
            <Notice key="warn" kind="warn">
              25% of users → 50% of users in production
            </Notice>,
            <Notice key="info">Not shown.</Notice>,
          ]}
        />
        <Notice>Information is neutral.</Notice>
        <Notice kind="ok">Checked: no problem.</Notice>
        <Notice kind="danger" title="The server refused it">
          The name is taken.
        </Notice>
      </Part>
      <Part title="Steps">
        <Stepper
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
        <Stepper label="A rejected one" current={1} failed steps={[{ label: 'Draft' }, { label: 'Rejected' }]} />
      </Part>
      <Part title="Fields">
        <form className="stack narrow">
          <TextField label="Name" required value={text} onChange={setText} hint="Letters, digits, - and _." />
          <TextField label="With an error" value={text} onChange={setText} error="The name is taken." />
          <Select label="Few choices" choices={types} value={type} onChange={setType} />
          <Select label="Many choices" choices={many} value={project} onChange={setProject} />
          <Select label="Environment" choices={environments} value={environment} onChange={setEnvironment} />
          <Select label="Disabled" choices={types} value={type} onChange={setType} disabledReason="You need a permission." />
          <Combobox label="Combobox" choices={many} value={project} onChange={setProject} />
          <MultiCombobox label="Several" choices={environments} value={fields} onChange={setFields} />
          <NumberField label="Percentage" unit="%" value={25} onChange={() => {}} />
          <TextArea label="Description" value={text} onChange={setText} />
          <Checkbox label="Impression data" checked={on} onChange={setOn} />
          <RadioGroup
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
          <Button>Secondary</Button>
          <Button variant="primary">Primary</Button>
          <Button variant="danger">Delete</Button>
          <Button variant="quiet">Quiet</Button>
          <Button size="small">Small</Button>
          <Button pending>Pending</Button>
          <Button disabledReason="You need a permission.">Disabled</Button>
          <Button onClick={() => toast.success('checkout is on in production', { undo: () => Promise.resolve() })}>Toast</Button>
        </div>
        <div className="row">
          <Badge>Neutral</Badge>
          <Badge kind="ok">On</Badge>
          <Badge kind="warn">Widens</Badge>
          <Badge kind="danger">Failed</Badge>
          <Badge kind="accent">In draft</Badge>
          <Chip onRemove={() => {}}>Removable</Chip>
          <Meter label="Share" value={12.5} />
          <Meter label="Share" value={80} kind="ok" />
        </div>
        <Facts
          items={[
            ['Created', <DateTime key="created" value={rows[1]!.at} />],
            ['Seen', <DateTime key="seen" value={null} />],
          ]}
        />
        <div className="grid">
          <Figure label="On" value={percent(12)} hint="102 on, 899 off" />
        </div>
        <CodeBlock label="Snippet" code="curl https://guidon.example/api/client/features" />
      </Part>
      <Part title="Waiting and empty">
        <Loading />
        <Skeleton width="short" />
        <EmptyState title="No flags yet" action={<Button variant="primary">Create flag</Button>}>
          A flag switches a feature on for some users.
        </EmptyState>
      </Part>
      {open === 'sheet' && (
        <Dialog sheet open onClose={() => setOpen(undefined)} title="Edit strategy in production">
          <form className="stack">
            {Array.from({ length: 12 }, (_, index) => (
              <TextField key={index} label={`Field ${index}`} value="" onChange={() => {}} />
            ))}
            <DialogActions sentence="25% → 50% of users in segment beta customers.">
              <Button onClick={() => setOpen(undefined)}>Cancel</Button>
              <Button variant="primary">Save</Button>
            </DialogActions>
          </form>
        </Dialog>
      )}
      {open === 'dialog' && (
        <Dialog open onClose={() => setOpen(undefined)} title="Switch checkout on in production?" description="For 25% of users.">
          <DialogActions>
            <Button onClick={() => setOpen(undefined)}>Cancel</Button>
            <Button variant="primary">Switch on</Button>
          </DialogActions>
        </Dialog>
      )}
    </Page>
  )
}
