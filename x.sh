A(){ ATTD=/dev/shm/att6/w$1$2 PYTHONPATH=$3:/dev/shm/att6 timeout 290 python /dev/shm/att6/cmp.py $1 6000 /dev/shm/att6/o$1$2.jsonl; }
A 21 prev /dev/shm/att6/prev & A 21 new /work/wt/a1 & wait
