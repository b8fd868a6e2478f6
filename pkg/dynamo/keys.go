package dynamo

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// Where everything lies.
//
//	item             pk                   sk                          what it is
//	flag             FLAG#<name>          FLAG                        the whole aggregate; never deleted, so a name never comes back
//	its history      FLAG#<name>          EVENT#<version>             the event that made that version: exactly one, in order
//	an event's body  beside each event    BODY#<version>              both sides of the change, where they are more than 4 KiB
//	its list row     PROJECT#<uid>        FLAG#<name> ARCHIVED#<name> what lists show; strongly consistent, unlike an index
//	the log          index log, project: every event by its id, which begins with the time; see log.go
//	project          PROJECT#<id>         PROJECT                     with its environments
//	project history  PROJECT#<uid>        EVENT#<version>             by uid: an id that is used again has a history of its own
//	project guard    PROJECT#<uid>        GUARD#<00-15>               counts its flags and its own segments; closed when it is deleted
//	project row      PROJECTS             <id>                        the project again, for the list of all
//	registries       REGISTRY#<which>     REGISTRY                    environments, roles, tag types, strategy types, context fields: one item each
//	token            TOKEN#<sha256>       TOKEN                       an API or personal token, found by the hash of its secret
//	token seen       TOKEN#<sha256>       SEEN                        when it was last used, written at most once an hour
//	token row        TOKENS               <sha256>                    the API token again, for the list of all
//	user             USERS                <id>                        a person or service account
//	user history     USER#<id>            EVENT#<version>
//	signup token     SIGNUPS              <sha256>                    a public signup token
//	taken name       UNIQUE#<kind>#<name> UNIQUE                      token name, user name, e-mail: taken by condition
//	segment          SEGMENTS             <id>
//	segment guard    SEGMENT#<id>         GUARD                       counts its uses, names the project that it belongs to; closed
//	                                                                  when it is deleted; see follow_segments.go
//	segment history  SEGMENT#<id>         EVENT#<version>
//	use              USES                 <flag>                      what the flag uses of segments and context fields, if anything
//	counter          COUNTER#<entity>     COUNTER                     the last integer id, by ADD; gaps are fine
//
// What each access costs (a "unit" is a capacity unit; reads are strongly consistent, 1 unit per 4 KB an item;
// transactional writes cost 2 units per KB an item):
//
//	access                       calls                 units for small items
//	authenticate, with all that  1 BatchGetItem        1 an item: token, project, flag, environments = 4
//	an operation reads
//	list a project's flags       + 1 Query a MB        1 per 4 KB of rows: 1,000 flags in 2 environments about 75
//	list all tags                + 2 Query a project   the same, for active and archived flags of all projects
//	change one flag              + 1 TransactWrite     flag, event, and the row and guard when they change: 4 to 8,
//	                                                   and 1 per KB of the event in each index: 1 or 2
//	read a page of the log       + 1 Query             0.5 per 4 KB of the page; filtered, of the megabyte filtered: 128
//	read a page of a flag's      + 1 Query             1 per 4 KB of the page
//	with large events in it      + 1 BatchGetItem      1 per 4 KB of their bodies, at most a megabyte: 256
//	settle a lost answer         + 1 GetItem           1, and only when a condition failed after a lost answer
//
// The log is an index with one partition, log = LOG: DynamoDB writes 1,000 units (KB) a second to it. An event takes 1 or 2
// units in each index, and at most 6: what is larger is its body, which is in no index. So the service makes at least 160
// changes a second, and some 500 as a rule, far more than people and their tools need; and ordered reading of everything is
// one Query. Events of earlier versions have up to 128 KiB in the item itself.
// Only events have the attributes log, id and project, so nothing else is in an index.
//
// A guard is one of 16 items, chosen by the flag's name: one shared item would make creations in a project conflict.

const (
	guards      = 16
	guardPrefix = "GUARD#"
)

// A place is a primary key.
type place struct{ pk, sk string }

func (p place) attributes() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: p.pk},
		"sk": &types.AttributeValueMemberS{Value: p.sk},
	}
}

// placeOf is where the aggregate of that key lies.
func placeOf(key flags.Key) place {
	switch key.Entity {
	case flags.EntityFeature:
		return place{"FLAG#" + key.ID, "FLAG"}
	case flags.EntityProject:
		return place{"PROJECT#" + key.ID, "PROJECT"}
	case flags.EntityEnvironments:
		return place{"REGISTRY#environments", "REGISTRY"}
	case flags.EntityToken:
		return place{"TOKEN#" + key.ID, "TOKEN"}
	case flags.EntityRoles, flags.EntityTagTypes, flags.EntityStrategyTypes, flags.EntityContextFields:
		return place{"REGISTRY#" + string(key.Entity), "REGISTRY"}
	case flags.EntityUser, flags.EntitySignupToken:
		return place{listPartition(key.Entity), key.ID}
	case flags.EntityTokenUse:
		return place{"TOKEN#" + key.ID, "SEEN"}
	case flags.EntitySegment, flags.EntityUse:
		return place{listPartition(key.Entity), key.ID}
	case flags.EntityUseCount:
		return place{segmentPrefix + key.ID, guardKey}
	}
	panic("dynamo: no place for " + key.Entity) // a defect: an entity was added without its keys
}

// listPartition holds what a list of all aggregates of an entity reads: the aggregates themselves, or a row for each.
func listPartition(entity flags.Entity) string {
	switch entity {
	case flags.EntityProject:
		return "PROJECTS"
	case flags.EntityToken:
		return "TOKENS"
	case flags.EntityUser:
		return "USERS"
	case flags.EntitySignupToken:
		return "SIGNUPS"
	case flags.EntitySegment:
		return "SEGMENTS"
	case flags.EntityUse:
		return "USES"
	}
	panic("dynamo: no list of " + entity)
}

const (
	eventPrefix = "EVENT#"
	bodyPrefix  = "BODY#"
)

// bodyPlace is where the body of the event at that place lies, if it has one.
func bodyPlace(event place) place {
	return place{event.pk, bodyPrefix + strings.TrimPrefix(event.sk, eventPrefix)}
}

// historyOf is the partition that holds the events of an aggregate.
func historyOf(a flags.Aggregate) string {
	switch a := a.(type) {
	case *flags.Project:
		return projectPartition(a.UID)
	case *flags.User:
		return "USER#" + a.Key().ID
	case *flags.SignupToken:
		return "SIGNUP#" + a.Key().ID
	case *flags.Segment:
		return segmentPartition(a.ID)
	}
	return placeOf(a.Key()).pk
}

func eventPlace(a flags.Aggregate, version int64) place {
	return place{historyOf(a), eventKey(version)}
}

func projectPartition(uid string) string { return "PROJECT#" + uid }

// rowPrefix heads the sort keys of a project's list rows.
func rowPrefix(archived bool) string {
	if archived {
		return "ARCHIVED#"
	}
	return "FLAG#"
}

func rowPlace(f *flags.Feature) place {
	return place{projectPartition(f.ProjectUID), rowPrefix(f.Archived) + f.Name}
}

func guardPlace(f *flags.Feature) place {
	h := fnv.New32a()
	_, _ = h.Write([]byte(f.Name)) // never fails
	return guardAt(f.ProjectUID, h.Sum32()%guards)
}

func guardAt(projectUID string, i uint32) place {
	return place{projectPartition(projectUID), fmt.Sprintf("%s%02d", guardPrefix, i)}
}

// The partition of a segment's guard and history, and the sort key of the guard.
const (
	segmentPrefix = "SEGMENT#"
	guardKey      = "GUARD"
)

func segmentPartition(id int64) string { return segmentPrefix + strconv.FormatInt(id, 10) }

func segmentGuard(id int64) place { return place{segmentPartition(id), guardKey} }
