import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { actorName, api, apiQuery, errorText, isNotFound, useChange, useMe, type Schema } from '../../api'
import {
  at,
  conflictsOf,
  countChanges,
  isOpen,
  requestPath,
  requestQuery,
  rowOf,
  stateKind,
  titleOf,
  touchedRequests,
  versionOf,
  type ChangeRequest,
  type StoredChange,
} from '../../requests/data'
import { FreezeBar } from '../../requests/bar'
import '../../requests/requests.css'
import { Page } from '../../shell'
import {
  Badge,
  Button,
  ConfirmDialog,
  DateTime,
  EmptyState,
  ErrorState,
  Icons,
  IconButton,
  Loaded,
  Loading,
  Notice,
  Section,
  listed,
  plural,
  toast,
} from '../../ui'
import { Changes } from '../../ui/changes'
import { Diff } from '../../ui/diffview'
import { EnvironmentName } from '../../ui/environmentname'
import { plansPath } from '../flag/plan/data'
import { flagPath, useProject, type Flag } from '../flag/data'
import { childrenText } from '../flag/strategy/describe'
import { useSegmentNames, useSegments } from '../flag/strategy/list'
import { Affected, liveUses } from '../settings/live'
import { differencesOf } from '../insight/eventtext'
import { Actions, type OpenDialog } from './actions'
import { Discussion } from './discussion'
import { saveEvidence } from './evidence'
import { beyond, describeSegment, planActions, replacedBy, replacedPlan, shownChanges, shownSegmentChange, type ShownChange } from './present'
import { TitleDialog } from './titledialog'

const EditStrategy = lazy(() => import('./editstrategy'))

/** A change request: what it changes, who approved it, and what can be done with it. */
export default function ChangeRequestPage() {
  const { projectId, requestId } = useParams({ from: '/projects/$projectId/change-requests/$requestId' })
  const query = useQuery(requestQuery(projectId, Number(requestId)))
  const crumbs = [
    { label: 'Projects', link: { to: '/projects' as const } },
    { label: useProject(projectId)?.name ?? projectId, link: { to: '/projects/$projectId' as const, params: { projectId } } },
    { label: 'Change requests', link: { to: '/projects/$projectId/change-requests' as const, params: { projectId } } },
  ]
  if (query.data) return <Review request={query.data} crumbs={crumbs} />
  return (
    <Page title={`Change request #${requestId}`} crumbs={crumbs}>
      {isNotFound(query.error) ? (
        <EmptyState icon={<Icons.Search />} title="There is no such change request">
          Drafts of others are not shown, and a draft disappears when its author discards it.
        </EmptyState>
      ) : query.error ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Loading />
      )}
    </Page>
  )
}

interface ReviewProps {
  request: ChangeRequest
  crumbs: {
    label: string
    link: { to: '/projects' } | { to: '/projects/$projectId' | '/projects/$projectId/change-requests'; params: { projectId: string } }
  }[]
}

function Review({ request, crumbs }: ReviewProps) {
  const me = useMe()
  const [renaming, setRenaming] = useState(false)
  const [open, setOpen] = useState<OpenDialog>()
  const mine = request.createdBy.id === me.user?.id
  const editable = isOpen(request) && request.state !== 'Scheduled' && (mine || me.isAdmin)
  return (
    <Page
      title={titleOf(rowOf(request))}
      crumbs={crumbs}
      aside={
        <>
          <Badge kind={stateKind(request.state)}>{request.state}</Badge>
          {editable && <IconButton size="small" label="Change the title" icon={<Icons.Edit />} onClick={() => setRenaming(true)} />}
        </>
      }
      description={
        <>
          #{request.id} · {plural(countChanges(request), 'change')} in <EnvironmentName name={request.environment} />
          {beyond(request)} · by {actorName(request.createdBy)}
          {mine && ' (you)'}, <DateTime value={request.createdAt} />
        </>
      }
      actions={request.state !== 'Draft' && <EvidenceButton request={request} />}
    >
      {request.freeze && <FreezeBar {...request.freeze}>Approved change requests wait.</FreezeBar>}
      <Conflicts request={request} editable={editable} onDiscard={() => setOpen(request.state === 'Draft' ? 'discard' : 'cancel')} />
      <Actions request={request} mine={mine} open={open} setOpen={setOpen} />
      {request.features.map((feature) => (
        <FlagChanges key={feature.name} request={request} feature={feature} editable={editable} />
      ))}
      {request.segments.map((change) => (
        <SegmentChange key={change.id} request={request} change={change} editable={editable} />
      ))}
      {countChanges(request) === 0 && <p className="soft">It has no changes.</p>}
      <Discussion request={request} />
      {renaming && <TitleDialog request={request} onClose={() => setRenaming(false)} />}
    </Page>
  )
}

// A file with the changes, the approvals and what they were for, and the events.
function EvidenceButton({ request }: { request: ChangeRequest }) {
  const save = useMutation({
    mutationFn: () => saveEvidence(request),
    onSuccess: (complete) => complete || toast.info('The oldest events are missing in the file, because there are too many. Read them with the API.'),
    onError: (error) => toast.error(errorText(error)),
  })
  return (
    <Button icon={<Icons.Down />} pending={save.isPending} onClick={() => save.mutate()}>
      Download record
    </Button>
  )
}

// What has changed below the request, and the ways on.
function Conflicts({ request, editable, onDiscard }: { request: ChangeRequest; editable: boolean; onDiscard: () => void }) {
  const draft = request.state === 'Draft'
  const rebase = useChange({
    change: () => api.post(`${requestPath}/rebase`, { path: at(request), ifMatch: versionOf(request) }),
    invalidates: touchedRequests,
    success: draft ? 'Draft updated' : 'Request updated. It needs new approvals.',
  })
  if (!isOpen(request)) return null
  if (request.conflict)
    return (
      <Notice kind="danger" title="It can only be cancelled">
        {errorText(new Error(request.conflict))}
      </Notice>
    )
  const changed = conflictsOf(request)
  if (changed.length === 0) return null
  const reason = editable ? undefined : `Only ${actorName(request.createdBy)} and administrators can do this.`
  return (
    <Notice
      kind="danger"
      title={`Someone changed ${listed(changed)} after ${draft ? 'you drafted this' : 'this was proposed'}`}
      action={
        <span className="row">
          <Button size="small" variant="primary" pending={rebase.isPending} disabledReason={reason} onClick={() => rebase.mutate()}>
            Update {draft ? 'draft' : 'request'}
          </Button>
          <Button size="small" disabledReason={reason} onClick={onDiscard}>
            Discard
          </Button>
        </span>
      }
    >
      The differences below are to what is there now. {!draft && 'Updating ends the approvals.'}
    </Notice>
  )
}

interface FlagChangesProps {
  request: ChangeRequest
  feature: ChangeRequest['features'][number]
  editable: boolean
}

function FlagChanges({ request, feature, editable }: FlagChangesProps) {
  const names = useSegmentNames()
  const open = isOpen(request)
  // What is stored now is only what a closed request changed as long as it was not changed again.
  const flag = useQuery({ ...apiQuery(flagPath, { path: { projectId: request.project, featureName: feature.name } }), enabled: open })
  const plans = useQuery({
    ...apiQuery(plansPath, { path: { projectId: request.project, featureName: feature.name, environment: request.environment } }),
    enabled: open && feature.changes.some(({ action }) => planActions.includes(action)),
    retry: false,
  }).data
  if (open && flag.isPending) return <Loading />
  const tooLarge = !open && feature.changes.some(({ before }) => before === null)
  const shown = open
    ? shownChanges(feature.changes, flag.data, request.environment, names, false, plans?.[0])
    : shownChanges(feature.changes, replacedBy(feature.changes, request.environment), request.environment, names, true, replacedPlan(feature.changes))
  const fallback = feature.defaultChange && shownChanges([feature.defaultChange], flag.data, request.environment, names)[0]
  return (
    <Section
      title={
        <Link to="/projects/$projectId/flags/$flag" params={{ projectId: request.project, flag: feature.name }} className="break">
          {feature.name}
        </Link>
      }
    >
      <ol className="request-changes" aria-label={`Changes of ${feature.name}`}>
        {feature.changes.map((change, index) => (
          <li key={change.id}>
            <ChangeBody request={request} change={change} shown={shown[index]!} editable={editable} flag={flag.data} />
          </li>
        ))}
      </ol>
      {tooLarge && <p className="soft small">What was there before was too large to be kept.</p>}
      {fallback && (
        <article className="request-change" aria-label="Applying also does this">
          <p className="break">Applying also does this: {fallback.text}</p>
          <Details shown={fallback} />
        </article>
      )}
    </Section>
  )
}

function SegmentChange({ request, change, editable }: { request: ChangeRequest; change: ChangeRequest['segments'][number]; editable: boolean }) {
  const segment = useQuery({ ...apiQuery('/api/admin/segments/{id}', { path: { id: change.segmentId } }), enabled: isOpen(request), retry: false })
  return (
    <Section title={`Segment ${change.name}`}>
      <ChangeBody
        request={request}
        change={change}
        shown={shownSegmentChange(change, isOpen(request) ? segment.data : (change.before as Schema<'Segment'> | undefined))}
        editable={editable}
      />
      {isOpen(request) && change.action === 'updateSegment' && segment.data && <Uses segment={segment.data} change={change} />}
    </Section>
  )
}

// The flags that follow the change of a segment, in all environments of all projects: a change request belongs to only one.
function Uses({ segment, change }: { segment: Schema<'Segment'>; change: StoredChange }) {
  const client = useQueryClient()
  const live = useQuery({
    queryKey: ['/api/admin/segments/{id}/strategies', { id: segment.id }, 'live'],
    queryFn: () => liveUses(client, segment, () => true),
    staleTime: 60_000,
  })
  const after = (change.payload as Partial<Schema<'Segment'>>).constraints ?? []
  return (
    <Loaded query={live} lines={2}>
      {(found) => <Affected live={found} before={segment.constraints} after={after} />}
    </Loaded>
  )
}

// The difference that a change makes, or what it sets where it is not known what was there, and whom the segments of its strategies select.
function Details({ shown }: { shown: ShownChange }) {
  const segments = useSegments()
  return (
    <>
      <Difference shown={shown} />
      {shown.milestones && <Sentences lead="Its milestones:" sentences={shown.milestones} />}
      {shown.onFor && <OnFor sentences={shown.onFor} onlyWhere={shown.onlyWhere} />}
      {shown.wasOnFor && shown.wasOnFor.length > 0 && <Sentences lead="On now for:" sentences={shown.wasOnFor} />}
      {shown.dependents && <p className="break">{childrenText(shown.dependents)}</p>}
      {shown.segments?.map((id) => (
        <p key={id} className="small break">
          {describeSegment(
            id,
            segments.find((one) => one.id === id),
          )}{' '}
          <Link to="/segments/$id" params={{ id: String(id) }}>
            Open segment
          </Link>
        </p>
      ))}
    </>
  )
}

// The difference in sentences, with both states as JSON, or what the change sets where it is not known what was there.
function Difference({ shown: { text, before, after } }: { shown: ShownChange }) {
  if (before === undefined && after === undefined) return null
  const label = `${text}: what changes`
  // The lines of an order are sentences already.
  if (Array.isArray(before) && typeof before[0] === 'string') return <Diff before={before} after={after} label={label} />
  const [old, now] = [before, after].map(partsOf)
  const changes =
    now && (old || before === undefined)
      ? differencesOf(old ?? { constraints: [], variants: [] }, old ? now : { constraints: now.constraints, variants: now.variants })
      : []
  // The heading says the audience of a new strategy, which parents change, and another percentage.
  const shown = changes.filter(({ path }) => !(text.includes(' → ') && path.endsWith('rollout')))
  return <Changes changes={shown} before={before} after={after} label={label} open={changes.length === 0 && old !== undefined && now !== undefined} />
}

// What is compared of a state: a strategy, a segment, or variants. The heading has the rest.
function partsOf(state: unknown): Record<string, unknown> | undefined {
  if (Array.isArray(state)) return state.every((one) => typeof one === 'object' && 'weight' in (one as object)) ? { variants: state } : undefined
  return typeof state === 'object' && state !== null ? (state as Record<string, unknown>) : undefined
}

function OnFor({ sentences, onlyWhere }: { sentences: string[]; onlyWhere?: string }) {
  if (sentences.length === 0) return <p>Every strategy there is disabled, so no one gets the flag.</p>
  return (
    <>
      <Sentences lead="With all changes of this request, the flag will be on for:" sentences={sentences} />
      {onlyWhere && <p className="break">{onlyWhere}</p>}
    </>
  )
}

function Sentences({ lead, sentences }: { lead: string; sentences: string[] }) {
  return (
    <>
      <p>{lead}</p>
      <ul aria-label="Whom it concerns">
        {sentences.map((text, index) => (
          <li key={index} className="break">
            {text}
          </li>
        ))}
      </ul>
    </>
  )
}

interface ChangeBodyProps {
  request: ChangeRequest
  change: StoredChange
  shown: ShownChange
  editable: boolean
  flag?: Flag
}

function ChangeBody({ request, change, shown, editable, flag }: ChangeBodyProps) {
  const [asking, setAsking] = useState(false)
  const [editing, setEditing] = useState(false)
  const reviewed = request.state !== 'Draft'
  const remove = useChange({
    change: () => api.delete(`${requestPath}/changes/{changeId}`, { path: { ...at(request), changeId: change.id }, ifMatch: versionOf(request) }),
    invalidates: touchedRequests,
    success: 'Change removed',
  })
  return (
    <article className="request-change" aria-label={shown.text}>
      <div className="request-head">
        <h3 className="break grow">{shown.text}</h3>
        {editable && flag && (change.action === 'addStrategy' || change.action === 'updateStrategy') && (
          <Button size="small" variant="quiet" icon={<Icons.Edit />} onClick={() => setEditing(true)} aria-label={`Edit this change: ${shown.text}`}>
            Edit
          </Button>
        )}
        {editable && (
          <Button
            size="small"
            variant="quiet"
            icon={<Icons.Trash />}
            pending={remove.isPending}
            onClick={() => (reviewed ? setAsking(true) : remove.mutate())}
            aria-label={`Remove this change: ${shown.text}`}
          >
            Remove
          </Button>
        )}
      </div>
      <Details shown={shown} />
      {change.createdBy.id !== request.createdBy.id && (
        <p className="soft small">
          Added by {actorName(change.createdBy)}, <DateTime value={change.createdAt} />
        </p>
      )}
      {editing && flag && (
        <Suspense fallback={null}>
          <EditStrategy request={request} change={change} flag={flag} onClose={() => setEditing(false)} />
        </Suspense>
      )}
      {asking && (
        <ConfirmDialog
          open
          danger={false}
          onClose={() => setAsking(false)}
          title="Remove this change from the request?"
          description="Approvals are removed, because what was approved is no longer what the request does."
          action="Remove change"
          onConfirm={() => remove.mutateAsync()}
        />
      )}
    </article>
  )
}
