import { useQuery } from '@tanstack/react-query'
import { useMe } from '../../api'
import { openRequests, waits } from '../../requests/data'
import '../../requests/requests.css'
import { Page } from '../../shell'
import { Loaded, Section } from '../../ui'
import { RequestTable } from './table'

/** What waits for the caller, and what the caller has open, in all projects. */
export default function InboxPage() {
  const { user } = useMe()
  const query = useQuery(openRequests())
  return (
    <Page title="Change requests">
      <Loaded query={query}>
        {({ changeRequests, total }) => {
          const waiting = changeRequests.filter(waits)
          const mine = changeRequests.filter((one) => one.createdBy.id === user?.id && !waiting.includes(one))
          return (
            <>
              <Section title="Waiting for you">
                <RequestTable
                  withProject
                  label="Change requests that wait for you"
                  requests={waiting}
                  empty={<p className="soft">Nothing waits for you. Requests that you can approve or apply appear here.</p>}
                />
              </Section>
              <Section title="Yours">
                <RequestTable
                  withProject
                  label="Your open change requests"
                  requests={mine}
                  empty={
                    <p className="soft">
                      {waiting.some((one) => one.createdBy.id === user?.id)
                        ? 'You have no other open requests.'
                        : 'You have no open requests. Change a flag in a protected environment to begin one.'}
                    </p>
                  }
                />
              </Section>
              {total > changeRequests.length && <p className="soft">Only the newest {changeRequests.length} open requests were looked at.</p>}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
