import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { api, apiQuery, isNotFound, useChange, useMe } from '../../api'
import { Page } from '../../shell'
import { ActionMenu, ConfirmDialog, DateTime, EmptyState, Facts, Icons, LinkButton, Loaded, Notice, Section, number, reportsNoted } from '../../ui'
import { strategyName } from '../../words/names'
import { ApplicationDialog } from './applicationdialog'
import { EnvironmentsOfApp, FlagsOfApp, InstancesOfApp } from './applicationparts'

const crumbs = [{ label: 'Applications', link: { to: '/applications' } as const }]

/** One application: where it runs, which SDKs and flags it uses, and what is wrong. */
export default function ApplicationPage() {
  const { app } = useParams({ from: '/applications/$app' })
  const path = { appName: app }
  const application = useQuery({ ...apiQuery('/api/admin/metrics/applications/{appName}', { path }), refetchInterval: 30_000 })
  const overview = useQuery({
    ...apiQuery('/api/admin/metrics/applications/{appName}/overview', { path }),
    refetchInterval: 30_000,
    enabled: application.isSuccess,
  })
  const [dialog, setDialog] = useState<'' | 'edit' | 'delete'>('')
  const navigate = useNavigate()
  const { can } = useMe()
  const remove = useChange({
    change: () => api.delete('/api/admin/metrics/applications/{appName}', { path }),
    invalidates: ['/api/admin/metrics/applications'],
    success: `${app} is deleted. It appears again if it reports again.`,
    onSuccess: () => void navigate({ to: '/applications' }),
  })
  const reason = can('UPDATE_APPLICATION').reason
  if (isNotFound(application.error)) return <NoApplication name={app} />
  return (
    <Page
      title={app}
      description={application.data?.description}
      crumbs={crumbs}
      actions={
        <ActionMenu
          label={`Actions for ${app}`}
          entries={[
            { label: 'Edit description', icon: <Icons.Edit />, onSelect: () => setDialog('edit'), disabledReason: reason },
            { label: 'Delete', icon: <Icons.Trash />, danger: true, onSelect: () => setDialog('delete'), disabledReason: reason },
          ]}
        />
      }
    >
      <div className="stack">
        <Loaded query={application}>
          {(data) => (
            <>
              <Section>
                <Facts
                  items={[
                    ['Last report', <DateTime key="seen" value={data.updatedAt} noted={reportsNoted} />],
                    ['First report', <DateTime key="created" value={data.createdAt} />],
                    ['Flags', number(data.seenToggles.length)],
                    ['Strategy types', data.strategies.map((strategy) => strategyName(strategy.name)).join(', ') || 'None'],
                    ...(data.url ? ([['More information', <SafeLink key="url" url={data.url} />]] as [string, ReactNode][]) : []),
                  ]}
                />
                {overview.data && overview.data.issues.missingStrategies.length > 0 && (
                  <Notice kind="warn" title="Unknown strategy types">
                    Its SDKs know these types, and Guidon does not: {overview.data.issues.missingStrategies.join(', ')}.
                  </Notice>
                )}
              </Section>
              <Loaded query={overview}>{(found) => <EnvironmentsOfApp environments={found.environments} />}</Loaded>
              <FlagsOfApp flags={data.seenToggles} />
              <InstancesOfApp instances={data.instances} />
            </>
          )}
        </Loaded>
      </div>
      {dialog === 'edit' && application.data && <ApplicationDialog application={application.data} onClose={() => setDialog('')} />}
      <ConfirmDialog
        open={dialog === 'delete'}
        onClose={() => setDialog('')}
        title={`Delete ${app}?`}
        description="Its description, instances and list of flags are deleted. Usage of flags stays. If the application reports again, it is created again."
        action="Delete application"
        onConfirm={() => remove.mutateAsync()}
      />
    </Page>
  )
}

// Only web addresses become links: the address comes from a form.
function SafeLink({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <>{url}</>
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {url}
    </a>
  )
}

function NoApplication({ name }: { name: string }) {
  return (
    <Page title="Application not found" crumbs={crumbs}>
      <EmptyState
        icon={<Icons.App />}
        title={`There is no application ${name}`}
        action={
          <LinkButton to="/connect" search={{ app: name } as never} variant="primary" icon={<Icons.Plug />}>
            Connect an application
          </LinkButton>
        }
      >
        It has not reported yet, or was deleted. Applications that do not report for 90 days are removed.
      </EmptyState>
    </Page>
  )
}
