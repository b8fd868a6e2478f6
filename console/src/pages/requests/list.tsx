import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useMe } from '../../api'
import { rowOf, isOpen, requestsQuery } from '../../requests/data'
import { useProtection } from '../../requests/drafts'
import '../../requests/requests.css'
import { useUrlState } from '../../shell'
import { Button, EmptyState, ErrorState, Icons, LinkButton, Select, UnnamedProduction, plural } from '../../ui'
import { useEnvironmentChoices } from '../../ui/environmentname'
import { RequestTable } from './table'

/** The change requests of a project. */
export default function ChangeRequestsTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const me = useMe().user?.id
  const protection = useProtection(projectId)
  const query = useQuery(requestsQuery(projectId))
  const [view, setView] = useUrlState({ state: 'open', environment: '', mine: false })
  const all = (query.data ?? []).map(rowOf)
  const choices = useEnvironmentChoices([...new Set([...protection.environments.map((one) => one.environment), ...all.map((one) => one.environment)])])
  const shown = all.filter(
    (one) =>
      (view.state === '' || (view.state === 'applied' ? one.state === 'Applied' : isOpen(one) === (view.state === 'open'))) &&
      (view.environment === '' || one.environment === view.environment) &&
      (!view.mine || one.createdBy.id === me),
  )
  if (query.error && !query.data) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  if (query.data?.length === 0 && protection.environments.length === 0)
    return (
      <EmptyState
        icon={<Icons.Shield />}
        title="Change requests are off"
        action={
          <LinkButton to="/projects/$projectId/environments" params={{ projectId }} variant="primary">
            Choose the environments
          </LinkButton>
        }
      >
        Where they are on, a change of a flag is proposed by one person and approved by another before applications see it.
      </EmptyState>
    )
  return (
    <>
      <div className="request-bar">
        <Select
          label="State"
          hideLabel
          choices={[
            { value: 'open', label: 'Open' },
            { value: 'closed', label: 'Closed' },
            { value: 'applied', label: 'Applied' },
            { value: '', label: 'Open and closed' },
          ]}
          value={view.state}
          onChange={(state) => setView({ state })}
        />
        <Select label="Environment" hideLabel choices={choices} value={view.environment} onChange={(environment) => setView({ environment })} />
        <Button aria-pressed={view.mine} onClick={() => setView({ mine: !view.mine })}>
          Mine only
        </Button>
      </div>
      <p className="soft small">
        {protection.environments.length === 0 ? (
          'Change requests are off in all environments of this project.'
        ) : (
          <>
            Needed in{' '}
            {protection.environments.map((one, index) => (
              <Fragment key={one.environment}>
                {index > 0 && ', '}
                {one.environment} <UnnamedProduction name={one.environment} type={one.type} /> ({plural(one.requiredApprovals, 'approval')})
              </Fragment>
            ))}
            .{' '}
            <Link to="/projects/$projectId/environments" params={{ projectId }}>
              Change
            </Link>
          </>
        )}
      </p>
      <RequestTable
        label="Change requests"
        requests={shown}
        loading={query.isPending}
        empty={
          <EmptyState icon={<Icons.Check />} title={all.length === 0 ? 'No change requests yet' : 'No change request matches'}>
            {all.length === 0 ? 'Change a flag in a protected environment: the change is added to a draft, which you then send to review.' : undefined}
          </EmptyState>
        }
      />
    </>
  )
}
