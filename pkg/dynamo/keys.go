package dynamo

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// The items of the table:
//
//	item             pk                   sk                          content
//	flag             FLAG#<name>          FLAG                        the whole aggregate; never deleted, so a name is never used again
//	flag history     FLAG#<name>          EVENT#<version>             the event of that version of the flag
//	event body       as its event         BODY#<version>              Data and PreData of the event, if larger than 4 KiB
//	event of a move  FLAG#<name>          FORMER#<version>            a copy of the event, in the log of the project that the flag left
//	flag list row    PROJECT#<uid>        FLAG#<name> ARCHIVED#<name> what lists show; strongly consistent, unlike an index
//	event log        indexes log, project every event by its ID, which begins with the time; see log.go
//	project          PROJECT#<id>         PROJECT                     with its environments
//	project history  PROJECT#<uid>        EVENT#<version>             by UID: a project that reuses an ID has a history of its own
//	project guard    PROJECT#<uid>        GUARD#<00-15>               counts the project's flags and own segments; closed when the project is deleted
//	project list row PROJECTS             <id>                        a copy of the project, for the list of all
//	change request   REQUEST#<id>         REQUEST                     changes of an environment that others review; never deleted
//	request history  REQUEST#<id>         EVENT#<version>
//	comment          REQUEST#<id>         COMMENT#<number>            on the change request
//	request list row PROJECT#<uid>        REQUEST#<kind>#<id>         what lists show of a change request; see request_item.go for the kinds
//	request count    PROJECT#<uid>        REQUESTS                    how many change requests of the project are open
//	registries       REGISTRY#<entity>    REGISTRY                    environments, roles, tag types, strategy types, context fields, addons: one item each
//	token            TOKEN#<sha256>       TOKEN                       an API or personal token, found by the hash of its secret
//	token last use   SEEN#<sha256>        SEEN                        when the token was last used, written at most once an hour
//	token list row   TOKENS               <sha256>                    a copy of the API token, for the list of all
//	user             USERS                <id>                        a person or service account
//	user history     USER#<id>            EVENT#<version>
//	sessions         SESSIONS#<user id>   SESSIONS                    of a user, at most 20; deleted with the user
//	sessions history SESSIONS#<user id>   EVENT#<version>
//	sign-in link     SIGNIN#<sha256>      LINK                        lets a person sign in once; expires after 15 minutes to 7 days
//	sign-in history  SIGNIN#<sha256>      EVENT#<version>
//	identity         IDENTITY#<sha256>    IDENTITY                    as which user a person at an OpenID provider signs in; never deleted
//	identity history IDENTITY#<sha256>    EVENT#<version>
//	favorites        FAVORITES#<owner>    FAVORITES                   of a user or the API tokens of a name, without events
//	signup token     SIGNUPS              <sha256>                    a public signup token
//	signup history   SIGNUP#<sha256>      EVENT#<version>
//	unique name      UNIQUE#<kind>#<name> UNIQUE                      of a token, a segment, a template, a user (username, e-mail) or a draft
//	segment          SEGMENTS             <id>
//	segment guard    SEGMENT#<id>         GUARD                       counts the uses of the segment and names its project; closed
//	                                                                  when the segment is deleted; see segment_guard.go
//	segment history  SEGMENT#<id>         EVENT#<version>
//	template         TEMPLATES            <id>                        a release template
//	template history TEMPLATE#<id>        EVENT#<version>
//	signals          SIGNALS#<id>         SIGNALS                     of the attachment of an environment: what monitoring systems post
//	code references  REFERENCES#<id>      REFERENCES                  of a project, by its ID: where the code of its repositories names flags
//	signal history   SIGNALS#<id>         EVENT#<version>
//	use              USES                 <flag>                      what the flag uses of segments and context fields, if anything
//	counter          COUNTER#<entity>     COUNTER                     the last integer ID, incremented by ADD; IDs may have gaps
//	feed             FEED                 FEED                        the newest changes that applications see; see feed.go
//	feed page        FEED                 PAGE#<number>               older ones, up to that number; expires after a week
//	snapshot head    SNAPSHOT#HEAD        FORM#<form>                 which snapshot is the current one; see snapshot.go
//	lease            SNAPSHOT#LEASE       LEASE                       who may read everything while there is no snapshot
//	snapshot         SNAPSHOT#<epoch>.<number>.<hash> CHUNK#<0000>    a part of what applications see; expires after a week
//	post             POST#<period>#<0-7>  <milliseconds>#<id>         what a client reported in one request; see usage.go
//	post name        POST#NAME#<name>     NAME                        that a post of this name was stored; expires with it
//	batch            BATCH#<period>       BATCH#<number>              which posts of a period were added to the sums together
//	usage cursor     USAGE                CURSOR                      which batch is the next one
//	sum              USAGE#<flag>         HOUR#<hour> DAY#<day>       how often applications evaluated the flag
//	application      APPLICATIONS         <name>                      a program that reported; expires after 90 days without a report
//	application names APP#<name>          NAMES                       the names of flags that it evaluated; expires too
//	instances        APP#<name>           INSTANCES#<environment>     its instances in an environment; expires too
//	application history APP#<name>#<ms>   EVENT#<version>             changes by users, by the time of its creation
//	token's applications USAGE            TOKEN#<sha256>              which applications reported with the token
//	asked for all    USAGE                ALL#<project>               when a provider of OFREP last asked for all flags of the project, or of all (*); expires
//	outbox           OUTBOX#<addon>       <event id>                  an event that an addon is to send, or those of a large change; expires after 30 days
//	sent event       DELIVERED#<addon>    <event id>                  an event that the addon sent; expires after 7 days
//	parked event     PARKED#<addon>       <event id>                  an event that the addon could not send; expires after 7 days
//	due              DUE                  <time>#request#<id>         a change request that is to be applied at that time
//	due              DUE                  <time>#plan#<flag>#<plan>#<run>  a plan whose next milestone is to start; "#frozen" follows if it waits for the end of a freeze
//	due              DUE                  <time>#watch#<attachment>#<flag>#<plan>#<safeguard>#<signal>  a safeguard, which is looked at always (year 1) or never (year 9999)
//	addon lease      OUTBOX               LEASE#<addon>               who sends the events of the addon
//
// Posts and batches expire after 2 days, sums of hours after 7, those of days and applications after 90.
//
// The cost of each access. A unit is a capacity unit: a strongly consistent read costs 1 unit per 4 KB of an item, a
// transactional write 2 units per KB of an item.
//
//	access                       calls                 units for small items
//	authenticate, and load what  1 BatchGetItem        1 per item: token, project, flag, environments = 4
//	the operation reads                                a session: sessions, user, roles = 3
//	list the flags of a project  + 1 Query per MB      1 per 4 KB of rows: about 70 for 1,000 flags in 2 environments
//	list all tags                + 2 Query per project the same, for the active and the archived flags of all projects
//	change one flag              + 1 TransactWrite     flag, event, and row and guard if they change: 4 to 8;
//	                                                   and 1 per KB of the event in each index: 1 or 2;
//	                                                   and 2 to 4 for the feed if applications see the change, which
//	                                                   one change in eight also reads: 1
//	                                                   and 2 for each addon that sends the event;
//	                                                   and 1 to read the addons, per 4 KB of them
//	change many flags            + 1 TransactWrite     the same each; one after the other if applications see them
//	                             each, and + 1 for 32
//	read a page of the log       + 1 Query             0.5 per 4 KB of the page; with a filter, of the MB it reads: 128
//	read a page of a flag's log  + 1 Query             1 per 4 KB of the page
//	with large events in it      + 1 BatchGetItem      1 per 4 KB of their bodies, which are at most 1 MB: 256
//	read pages of the feed       1 Query               1 per 4 KB; about 0.6 KB per 20 changes
//	write a snapshot             1 PutItem per 350 KB  1 per KB
//	read a snapshot              1 BatchGetItem per 46 0.5 per 4 KB
//	                             chunks
//	read a page of an outbox     1 Query               1 per 4 KB: about 0.06 per event; and 1 BatchGetItem for the events
//	send or park an event        + 1 TransactWrite     4
//	store a report of usage      1 PutItem             1 per KB compressed
//	aggregate without reports    1 BatchGetItem,       11; and every ten minutes 2 batches and cursors: 4 writes, 9 reads
//	                             8 Query
//	aggregate with reports       the same, and         0.25 per KB of posts, again ten minutes later; 1 per 64 posts for the
//	                             1 PutItem a sum       batch; 3 reads and 2 writes a flag, 1 read more if only
//	                                                   browsers report it
//	read the sums of a flag      1 Query               1 per 4 KB
//	look for what is due         1 Query               1 per 4 KB: about 0.02 for each
//	start the next milestone     2 BatchGetItem,       5 and 18 for a small flag: that of a change, and the items of the two runs
//	                             1 TransactWrite
//	resolve a lost response      + 1 GetItem           1; only if a condition fails after a lost response
//
// The log is an index with a single partition, log = LOG, so that one Query reads all events in order. DynamoDB writes at
// most 1,000 units (KB) a second to a partition. An event takes 1 or 2 units in each index, 6 at most, because a larger
// event has its body in an item of its own, which is in no index. So the service can make at least 160 changes a second,
// usually about 500, far more than people and their tools need. Only events have the attributes log, id and project, so no other items are in an index.
//
// Every change that applications see writes the feed, so these changes are made one after the other: about 60 to 100 a second.
//
// A project has 16 guards, and the name of a flag selects one: with a single item, new flags in a project would conflict.

const (
	projectGuards = 16
	guardPrefix   = "GUARD#"
)

// An itemKey is the primary key of an item.
type itemKey struct{ pk, sk string }

func (k itemKey) attributes() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: k.pk},
		"sk": &types.AttributeValueMemberS{Value: k.sk},
	}
}

// registryKey is the key of a registry: an aggregate of which there is only one.
func registryKey(name flags.Entity) itemKey { return itemKey{"REGISTRY#" + string(name), "REGISTRY"} }

// registryExists is the error if another request is the first to write to a registry. The caller has given it no name that
// could be taken.
func registryExists(string) conditionError { return versionConflict }

const (
	eventPrefix = "EVENT#"
	bodyPrefix  = "BODY#"

	formerPrefix = "FORMER#"
)

// eventKey is the key of the event of a version of an aggregate.
func eventKey(a flags.Aggregate, version int64) itemKey {
	return itemKey{historyOf(a), eventSortKey(version)}
}

// maxVersion is the largest version that eventSortKey has digits for.
const maxVersion = 999_999_999_999

func eventSortKey(version int64) string { return fmt.Sprintf("%s%012d", eventPrefix, version) }

// bodyKey is the key of the body of an event, if it has one.
func bodyKey(event itemKey) itemKey {
	return itemKey{event.pk, bodyPrefix + strings.TrimPrefix(event.sk, eventPrefix)}
}

func projectPartition(uid string) string { return "PROJECT#" + uid }

// rowPrefix is the prefix of the sort keys of a project's flag list rows.
func rowPrefix(archived bool) string {
	if archived {
		return "ARCHIVED#"
	}
	return "FLAG#"
}

func rowKey(f *flags.Feature) itemKey {
	return itemKey{projectPartition(f.ProjectUID), rowPrefix(f.Archived) + f.Name}
}

// featureGuard is the key of the project guard that counts a flag.
func featureGuard(f *flags.Feature) itemKey {
	h := fnv.New32a()
	_, _ = h.Write([]byte(f.Name)) // never fails
	return projectGuard(f.ProjectUID, h.Sum32()%projectGuards)
}

func projectGuard(projectUID string, i uint32) itemKey {
	return itemKey{projectPartition(projectUID), fmt.Sprintf("%s%02d", guardPrefix, i)}
}

// The partition of a segment's guard and history, and the sort key of the guard.
const (
	segmentPrefix       = "SEGMENT#"
	segmentGuardSortKey = "GUARD"
)

func segmentPartition(id int64) string { return segmentPrefix + strconv.FormatInt(id, 10) }

func segmentGuard(id int64) itemKey { return itemKey{segmentPartition(id), segmentGuardSortKey} }
