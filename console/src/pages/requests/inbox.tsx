import { useQuery } from '@tanstack/react-query'
import { useMe } from '../../api'
import { openRequests, waits } from '../../requests/data'
import '../../requests/requests.css'
import { Page } from '../../shell'
import { EmptyState, Icons, Loaded, Section } from '../../ui'
import { RequestTable } from './table'

/** What waits for the caller, and what the caller has open, in all projects. */
export default function InboxPage() {
  const { user } = useMe()
  const query = useQuery(openRequests())
  return (
    <Page
      title="Change requests"
      description="In protected environments a change is proposed by one person and approved by another before applications see it."
    >
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
                  empty={
                    <EmptyState icon={<Icons.Check />} title="Nothing waits for you">
                      Requests that you can approve or apply appear here.
                    </EmptyState>
                  }
                />
              </Section>
              <Section title="Yours">
                <RequestTable withProject label="Your open change requests" requests={mine} empty={<p className="soft">You have no others.</p>} />
              </Section>
              {total > changeRequests.length && <p className="soft">Only the newest {changeRequests.length} open requests were looked at.</p>}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
