# Read by the walk-throughs of these pages: `. docs/walk-through.sh`. It logs in as the admin of the local run.

test -f .sluice/local.json || echo 'No local run: start one with "npm start" in another terminal, from the same folder.' >&2

# A fact of the local run: fact base_url
fact() { node -p "require('./.sluice/local.json').$1"; }

# A field of a reply, which is read from the input: field data[0].id. An error of the API is printed instead, unless the field is there.
field() {
  node -e '
    const reply = JSON.parse(require("fs").readFileSync(0, "utf8"));
    let value;
    try { value = eval(`reply.${process.argv[1]}`); } catch (error) { if (!reply.error) throw error; }
    if (value === undefined && reply.error) {
      console.error(`${reply.error.code}: ${reply.error.message}`);
      process.exit(1);
    }
    console.log(value);
  ' "$1"
}

# Repeats a command every second until its reply has a text, 180 times at most: wait_for TEXT FILE COMMAND
wait_for() {
  local text=$1 file=$2 tries=0
  shift 2
  until "$@" > "$file" && grep -q -e "$text" "$file"; do
    tries=$((tries + 1))
    if [ $tries -ge ${wait_times:-180} ]; then
      echo "No $text after $tries replies. The last one:" >&2
      cat "$file" >&2
      return 1
    fi
    sleep 1
  done
}

# An email address that nobody has yet: address grace
address() { echo "$1-$RANDOM-$RANDOM@acme.example"; }

# Invites somebody, and logs in with a password of their own: invite EMAIL FIELDS. The session is in $walk/session.json.
invite() {
  curl -s $control/v1/users -H "$admin" -H "$json" \
    -d "{\"email\": \"$1\", \"temporary_password\": \"For-the-first-day-1\", $2}" | field id > /dev/null
  local challenge
  challenge=$(curl -s $control/v1/auth/login -H "$json" -d "{\"email\": \"$1\", \"password\": \"For-the-first-day-1\"}" | field session)
  curl -s $control/v1/auth/challenge -H "$json" \
    -d "{\"email\": \"$1\", \"session\": \"$challenge\", \"new_password\": \"My-own-since-today-2\"}" > $walk/session.json
}

walk=.sluice/walk && mkdir -p $walk # the files that the commands write
json='content-type: application/json'
control=$(fact control_url)
curl -s $control/v1/auth/login -H "$json" \
  -d "{\"email\": \"$(fact admin_email)\", \"password\": \"$(fact admin_password)\"}" > $walk/session.json
admin="authorization: Bearer $(field access_token < $walk/session.json)"
