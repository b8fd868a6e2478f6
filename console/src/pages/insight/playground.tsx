import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { api, apiQuery, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import { Badge, EmptyState, ErrorState, Icons, Loading, Notice, Pagination, Section, Table, number, type Column } from '../../ui'
import { EnvironmentMark } from '../../ui/environmentname'
import { FilterBar } from '../../ui/filters'
import { ProjectName } from '../../ui/projectname'
import { contextText, decidingParent, parseContext, parseNames, reasonOf, requestOf, severalOf, whoOf, type Question } from './playgrounddata'
import { QuestionForm } from './playgroundform'
import { ResultDialog } from './playgroundresult'
import './playground.css'

type Feature = Schema<'AdvancedPlaygroundFeature'>
type Result = Schema<'PlaygroundEnvironmentFeature'>

/** A flag for one of the users. The name of the flag is in the first of its rows. */
interface ResultRow {
  feature: Feature
  user: number
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
  const [edited, setEdited] = useState(false)
  const response = useQuery({
    queryKey: ['playground', question],
    queryFn: ({ signal }) => api.post('/api/admin/playground/advanced', { body: requestOf(question), signal }),
    enabled: asked,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const usual = (environments.data?.environments ?? []).filter((one) => one.enabled).map(({ name }) => name)
  return (
    <Page title="Playground" description="See what users would get, and why. It does not count as usage.">
      <Section>
        {environments.isPending ? (
          <Loading />
        ) : (
          <QuestionForm
            key={`${view.environments} ${view.projects} ${view.context}`}
            question={asked ? question : { ...question, environments: usual.slice(0, 5) }}
            environments={environments.data?.environments ?? []}
            pending={response.isFetching}
            onEdit={setEdited}
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
      {!asked ? (
        <EmptyState icon={<Icons.Play />} title="Evaluate flags">
          Enter what an application would send about a user, such as userId and country. Several values, separated by commas, are several users.
        </EmptyState>
      ) : response.error ? (
        <ErrorState error={response.error} title="The flags could not be evaluated" onRetry={() => void response.refetch()} />
      ) : response.data ? (
        <>
          {edited && <p role="status">These results are for what was evaluated before. Evaluate again.</p>}
          <Results response={response.data} question={question} view={view} setView={setView} />
        </>
      ) : (
        <Loading />
      )}
    </Page>
  )
}

interface ResultsProps {
  response: Schema<'AdvancedPlayground'>
  question: Question
  view: { q: string; offset: number; flag: string }
  setView: (change: { q?: string; offset?: number; flag?: string }, options?: { push?: boolean }) => void
}

// A row for each flag and user, a column for each environment.
function Results({ response, question, view, setView }: ResultsProps) {
  const { environments } = question
  const several = severalOf(question)
  const onSearch = useCallback((change: { q?: string }) => setView({ ...change, offset: 0 }), [setView])
  const query = view.q.trim().toLowerCase()
  const found = response.features.filter((feature) => feature.name.toLowerCase().includes(query))
  const users = Math.max(1, ...found.slice(0, 1).flatMap((feature) => environments.map((name) => feature.environments[name]?.length ?? 0)))
  const pageSize = Math.max(1, Math.min(50, Math.floor(maxRows / users)))
  const offset = Math.min(view.offset, Math.max(0, Math.floor((found.length - 1) / pageSize) * pageSize))
  const open = response.features.find((feature) => feature.name === view.flag)
  const reason = (result: Result, user: number) => reasonOf(result, decidingParent(response.features, result, user))
  // Whether all users get the same for the same reason, so that one row is enough.
  const sameForAll = (feature: Feature) =>
    Object.values(feature.environments).every(
      (results) => new Set(results.map((one, user) => `${one.isEnabled} ${one.variant.name} ${reason(one, user)}`)).size < 2,
    )
  const rows = found
    .slice(offset, offset + pageSize)
    .flatMap((feature) => Array.from({ length: sameForAll(feature) ? 1 : users }, (_, user): ResultRow => ({ feature, user, first: user === 0 })))
  const userOf = ({ feature, user }: ResultRow) => {
    if (sameForAll(feature)) return <span className="soft">All {number(users)}</span>
    const context = environments.map((name) => feature.environments[name]?.[user]?.context).find(Boolean)
    return context && whoOf(context, several)
  }
  const columns: Column<ResultRow>[] = [
    {
      id: 'flag',
      header: 'Flag',
      width: 'min(220px, 36vw)',
      cell: ({ feature, first }) =>
        first && (
          <>
            <button type="button" className="playground-flag" onClick={() => setView({ flag: feature.name }, { push: true })}>
              {feature.name}
            </button>
            {question.projects.length !== 1 && (
              <p className="soft small">
                <ProjectName id={feature.projectId} />
              </p>
            )}
          </>
        ),
    },
    ...(several.length > 0
      ? [{ id: 'user', header: 'User', width: 'min(160px, 25vw)', cell: (row: ResultRow) => <span className="break">{userOf(row)}</span> }]
      : []),
    ...environments.map((name): Column<ResultRow> => ({
      id: name,
      header: name,
      mark: <EnvironmentMark name={name} />,
      width: `${Math.floor(66 / environments.length)}%`,
      cell: ({ feature, user }) => {
        const result = feature.environments[name]?.[user]
        return <Verdict result={result} reason={result && reason(result, user)} onOpen={() => setView({ flag: feature.name }, { push: true })} />
      },
    })),
  ]
  return (
    <div className="stack-s">
      {response.warnings && <Notice kind="warn">Ignored fields: {response.warnings.invalidContextProperties.join(', ')}. Their values must be strings.</Notice>}
      <FilterBar
        noun="flag"
        search="Search flags"
        filters={[]}
        values={{ q: view.q }}
        onChange={onSearch}
        shown={found.length}
        total={response.features.length}
      />
      <Table
        label="Results"
        columns={columns}
        rows={rows}
        rowKey={({ feature, user }) => `${feature.name} ${user}`}
        rowClass={({ first }) => (first ? 'playground-row' : 'playground-row playground-more')}
        minWidth={`${(several.length > 0 ? 230 : 140) + 200 * environments.length}px`}
        empty={<EmptyState icon={<Icons.Search />} title={query ? 'No flag matches' : 'The projects have no flags'} />}
      />
      {found.length > pageSize && (
        <Pagination noun="flags" offset={offset} limit={pageSize} total={found.length} onChange={(next) => setView({ offset: next })} />
      )}
      {open && <ResultDialog feature={open} flags={response.features} environments={environments} several={several} onClose={() => setView({ flag: '' })} />}
    </div>
  )
}

function Verdict({ result, reason, onOpen }: { result?: Result; reason?: string; onOpen: () => void }) {
  if (!result) return <span className="soft">Not in this environment</span>
  return (
    <button type="button" className="playground-verdict" title="Show why" onClick={onOpen}>
      <Badge kind={result.isEnabled ? 'ok' : 'neutral'}>{result.isEnabled ? 'On' : 'Off'}</Badge>
      {result.isEnabled && result.variant.enabled && <Badge kind="accent">{result.variant.name}</Badge>}
      <span className="soft small break">{reason}</span>
    </button>
  )
}
