import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, apiQuery, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import { Badge, EmptyState, ErrorState, Icons, Loading, Notice, Pagination, SearchField, Section, Table, number, type Column } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { contextText, onFirst, parseContext, parseNames, reasonOf, requestOf, type Question } from './playgrounddata'
import { QuestionForm } from './playgroundform'
import { ResultDialog } from './playgroundresult'
import './playground.css'

type Feature = Schema<'AdvancedPlaygroundFeature'>

/** A flag in one environment. The name of the flag is in the first of its rows. */
interface ResultRow {
  feature: Feature
  environment: string
  first: boolean
}

const maxRows = 200

/** Evaluates flags for a context, and says why they are on or off. The address has everything, so that it can be shared. */
export default function PlaygroundPage() {
  const [view, setView] = useUrlState({ environments: '', projects: '', context: '', q: '', flag: '', offset: 0 })
  const environments = useQuery(apiQuery('/api/admin/environments'))
  const question = useMemo<Question>(
    () => ({ environments: parseNames(view.environments), projects: parseNames(view.projects), context: parseContext(view.context) }),
    [view.environments, view.projects, view.context],
  )
  const asked = question.environments.length > 0
  const response = useQuery({
    queryKey: ['playground', question],
    queryFn: ({ signal }) => api.post('/api/admin/playground/advanced', { body: requestOf(question), signal }),
    enabled: asked,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const first = environments.data?.environments.find((one) => one.enabled)?.name
  return (
    <Page title="Playground" description="See what a user would get, and why. It is not counted as usage.">
      <div className="playground">
        <Section title="Who">
          {environments.isPending ? (
            <Loading />
          ) : (
            <QuestionForm
              key={`${view.environments} ${view.projects} ${view.context}`}
              question={asked || !first ? question : { ...question, environments: [first] }}
              environments={environments.data?.environments ?? []}
              pending={response.isFetching}
              onAsk={(next) => {
                const change = {
                  environments: next.environments.join(','),
                  projects: next.projects.join(','),
                  context: contextText(next.context),
                  offset: 0,
                  flag: '',
                }
                if (change.environments === view.environments && change.projects === view.projects && change.context === view.context) void response.refetch()
                else setView(change, { push: true })
              }}
            />
          )}
        </Section>
        <div className="stack">
          {!asked ? (
            <EmptyState icon={<Icons.Play />} title="Evaluate flags">
              Enter the context of a user, for example userId and country, and choose environments. Several values, separated by commas, are evaluated one by
              one.
            </EmptyState>
          ) : response.error ? (
            <ErrorState error={response.error} title="The flags could not be evaluated" onRetry={() => void response.refetch()} />
          ) : response.data ? (
            <Results response={response.data} environments={question.environments} view={view} setView={setView} />
          ) : (
            <Loading />
          )}
        </div>
      </div>
    </Page>
  )
}

interface ResultsProps {
  response: Schema<'AdvancedPlayground'>
  environments: string[]
  view: { q: string; offset: number; flag: string }
  setView: (change: { q?: string; offset?: number; flag?: string }, options?: { push?: boolean }) => void
}

function Results({ response, environments, view, setView }: ResultsProps) {
  const query = view.q.trim().toLowerCase()
  const found = response.features.filter((feature) => feature.name.toLowerCase().includes(query))
  const pageSize = Math.min(50, Math.ceil(maxRows / environments.length))
  const offset = Math.min(view.offset, Math.max(0, Math.floor((found.length - 1) / pageSize) * pageSize))
  const open = response.features.find((feature) => feature.name === view.flag)
  const rows = found
    .slice(offset, offset + pageSize)
    .flatMap((feature) => onFirst(feature, environments).map<ResultRow>((environment, index) => ({ feature, environment, first: index === 0 })))
  const columns: Column<ResultRow>[] = [
    {
      id: 'flag',
      header: 'Flag',
      width: '36%',
      cell: ({ feature, first }) =>
        first && (
          <>
            <button type="button" className="playground-flag" onClick={() => setView({ flag: feature.name }, { push: true })}>
              {feature.name}
            </button>
            <p className="soft small break">{feature.projectId}</p>
          </>
        ),
    },
    {
      id: 'environment',
      header: 'Environment',
      width: '22%',
      cell: ({ environment }) => (
        <span className="row">
          <EnvironmentName name={environment} />
        </span>
      ),
    },
    { id: 'result', header: 'Result', cell: ({ feature, environment }) => <Verdict results={feature.environments[environment] ?? []} /> },
  ]
  return (
    <Section title="Results">
      {response.warnings && <Notice kind="warn">Ignored fields: {response.warnings.invalidContextProperties.join(', ')}. Their values must be strings.</Notice>}
      <SearchField label="Search flags" value={view.q} onChange={(q) => setView({ q, offset: 0 })} maxLength={100} />
      <Table
        label="Results"
        columns={columns}
        rows={rows}
        rowKey={({ feature, environment }) => `${feature.name} ${environment}`}
        rowClass={({ first }) => (first ? undefined : 'playground-more')}
        minWidth="520px"
        empty={<EmptyState icon={<Icons.Search />} title={query ? 'No flag matches' : 'The projects have no flags'} />}
      />
      <Pagination noun="flags" offset={offset} limit={pageSize} total={found.length} onChange={(next) => setView({ offset: next })} />
      {open && <ResultDialog feature={open} environments={onFirst(open, environments)} onClose={() => setView({ flag: '' })} />}
    </Section>
  )
}

function Verdict({ results }: { results: readonly Schema<'PlaygroundEnvironmentFeature'>[] }) {
  const one = results[0]
  if (!one) return <span className="soft">Not in this environment</span>
  if (results.length > 1) {
    const on = results.filter((result) => result.isEnabled).length
    return (
      <Badge kind={on === 0 ? 'neutral' : on === results.length ? 'ok' : 'info'}>
        On for {number(on)} of {number(results.length)}
      </Badge>
    )
  }
  return (
    <>
      <span className="row">
        <Badge kind={one.isEnabled ? 'ok' : 'neutral'}>{one.isEnabled ? 'On' : 'Off'}</Badge>
        {one.isEnabled && one.variant.enabled && <Badge kind="accent">{one.variant.name}</Badge>}
      </span>
      <p className="soft small break">{reasonOf(one)}</p>
    </>
  )
}
