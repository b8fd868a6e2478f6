// What the programs for Node share. They print the answers to all questions as one line of JSON, whenever an answer changes.

/** flags are evaluated in this order, for one user after the other. */
export const flags = JSON.parse(process.env.FLAGS);
const users = JSON.parse(process.env.USERS);
const rounds = Number(process.env.ROUNDS) || Infinity;

/** url is the address of the server, without a path. */
export const url = process.env.GUIDON_URL;
export const token = process.env.TOKEN;
export const appName = process.env.APP_NAME;

/** follow evaluates every flag for every user again and again, ROUNDS times if that is set, and returns when the standard input ends. */
export async function follow(evaluate, every = 100) {
  let going = true;
  let printed;
  process.stdin.on('end', () => { going = false; }).resume();
  for (let round = 0; going; round++) {
    const answers = {};
    for (const user of round < rounds ? users : []) {
      for (const flag of flags) {
        answers[`${user.name} ${flag.name}`] = await evaluate(flag, user);
      }
    }
    const line = JSON.stringify(answers);
    if (line !== printed && round < rounds) {
      console.log(line);
      printed = line;
    }
    await new Promise((resolve) => { setTimeout(resolve, every); });
  }
}
