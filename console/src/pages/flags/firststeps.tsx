import { Link } from '@tanstack/react-router'

/** What to do in a project that has no flags yet. */
export function FirstSteps({ projectId }: { projectId: string }) {
  return (
    <>
      <p>A flag turns a part of your software on and off without a deployment: for everyone, for some users, or for a share of them.</p>
      <ol className="flags-steps">
        <li>Create a flag. Your code asks for its name.</li>
        <li>Add a strategy in development, which says who gets it, and switch it on there.</li>
        <li>
          <Link to="/connect" search={{ project: projectId } as never}>
            Connect your application
          </Link>
          : copy a program for your language, and see here when it has asked for the flag.
        </li>
        <li>
          <Link to="/projects/$projectId/access" params={{ projectId }}>
            Give your team roles
          </Link>
          , or{' '}
          <Link to="/import" search={{ project: projectId } as never}>
            import flags
          </Link>{' '}
          that you have elsewhere.
        </li>
      </ol>
    </>
  )
}
