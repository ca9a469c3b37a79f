# The leaderboard in a container: pages, interface for programs, human play, verifying worker.
#
#   docker build --tag gnomon .
#   docker run --init --publish 127.0.0.1:8080:8080 --volume board:/data gnomon
#
# The first start prints the first admin's token, once. What follows the image's name is given to
# `gnomon-board serve`: --allowed-host board.example.org, --public-url ..., see docs/board/operations.md.
# A folder of the host in place of the volume must belong to the user 10001.
FROM python:3.12-slim

WORKDIR /src
COPY constraints.txt ./
COPY packages ./packages
RUN python -m pip install --no-cache-dir --disable-pip-version-check \
        --constraint constraints.txt \
        ./packages/gnomon ./packages/gohr './packages/gnomon-board[postgres]' \
    && rm -rf /src/* \
    && useradd --uid 10001 --create-home gnomon \
    && install --directory --owner=gnomon --group=gnomon --mode=0700 /data

# Numba keeps what it has compiled in the home folder, since the packages are not the user's.
USER gnomon
WORKDIR /home/gnomon
VOLUME /data
EXPOSE 8080

# Without a proxy, whatever the environment says: the server is in this container.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open('http://127.0.0.1:8080/healthz', timeout=8)"]

ENTRYPOINT ["gnomon-board", "serve", "--host", "0.0.0.0", "--port", "8080", "--data", "/data"]
